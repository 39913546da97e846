/** One for all: it keeps nothing between whole texts, and making one costs more than a short text. */
const strict = new TextDecoder('utf-8', { fatal: true });

/** @returns the text that these bytes are in UTF-8, without a byte order mark; undefined where they are none */
export function textOfUtf8(bytes: Uint8Array): string | undefined {
  try {
    return strict.decode(bytes);
  } catch {
    return undefined;
  }
}
