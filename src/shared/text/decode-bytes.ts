/**
 * Decodes a whole text; bytes that are not part of it become U+FFFD.
 * @throws RangeError for an unknown encoding
 */
export function decodeBytes(bytes: Uint8Array, encoding?: string): string {
  const decoder = new TextDecoder(encoding);
  if (decoder.encoding !== 'windows-1252') return decoder.decode(bytes);
  // Node 20 decodes it as Latin-1, without quotation marks, dashes and the euro sign, unless in pieces.
  return decoder.decode(bytes, { stream: true }) + decoder.decode();
}
