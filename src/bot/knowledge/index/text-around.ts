import type { DocumentEntry, Segment } from './segment.ts';

/** Context before and after a passage, which often names its topic. Bytes per side. */
const ROOM_BYTES = 300;

/** The text of a passage with context from the same document, cut at word boundaries. */
export function textAround(
  { parts: { documents, passages, text } }: Segment,
  document: number,
  passage: number,
): string {
  const { textFrom, textTo } = documents[document] as DocumentEntry;
  const from = passages.from[passage] as number;
  const to = passages.to[passage] as number;
  const roomFrom = Math.max(textFrom, from - ROOM_BYTES);
  const roomTo = Math.min(textTo, to + ROOM_BYTES);
  const bytes = text.read(roomFrom, roomTo);
  const within = wholeCharacters(bytes.subarray(from - roomFrom, to - roomFrom));
  const before = wholeCharacters(bytes.subarray(0, from - roomFrom));
  const behind = wholeCharacters(bytes.subarray(to - roomFrom));
  const led = roomFrom === textFrom ? before : before.replace(/^[^\s。！？；，]*[\s。！？；，]?/, '… ');
  const followed = roomTo === textTo ? behind : behind.replace(/(?<![^\s。！？；，])[^\s。！？；，]*$/, ' …');
  return `${led}${within}${followed}`.trim();
}

/** Removes characters that were cut at either end. */
function wholeCharacters(bytes: Buffer): string {
  return bytes.toString('utf8').replace(/^\uFFFD+|(?<!\uFFFD)\uFFFD+$/g, '');
}
