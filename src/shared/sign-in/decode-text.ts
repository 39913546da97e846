/** Number of bytes in which an XML declaration has to end. */
const DECLARATION_BYTES = 256;

/**
 * Decodes an HTTP body: by its byte order mark, else the charset of the header, else an XML declaration, else UTF-8. An
 * unknown encoding counts as UTF-8.
 */
export function decodeText(bytes: Uint8Array, contentType: string | null): string {
  const named = /charset\s*=\s*["']?([\w.:-]+)/i.exec(contentType ?? '')?.[1];
  const label = [markOf(bytes), named, declaredIn(bytes)].find(isKnown);
  return new TextDecoder(label).decode(bytes);
}

function markOf([first, second, third]: Uint8Array): string | undefined {
  if (first === 0xef && second === 0xbb && third === 0xbf) return 'utf-8';
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  return first === 0xfe && second === 0xff ? 'utf-16be' : undefined;
}

function declaredIn(bytes: Uint8Array): string | undefined {
  const beginning = Buffer.from(bytes.subarray(0, DECLARATION_BYTES)).toString('latin1');
  return /^\s*<\?xml\s[^>]*?encoding\s*=\s*["']([\w.:-]+)["']/.exec(beginning)?.[1];
}

function isKnown(label: string | undefined): label is string {
  try {
    return label !== undefined && new TextDecoder(label).encoding !== '';
  } catch {
    return false;
  }
}
