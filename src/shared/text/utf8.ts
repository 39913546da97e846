/** Shared: it keeps no state between complete texts, and creating one costs more than decoding a short text. */
const strict = new TextDecoder('utf-8', { fatal: true });

/** @returns the text that these bytes encode in UTF-8, without a byte order mark; undefined if they are not UTF-8 */
export function textOfUtf8(bytes: Uint8Array): string | undefined {
  try {
    return strict.decode(bytes);
  } catch {
    return undefined;
  }
}
