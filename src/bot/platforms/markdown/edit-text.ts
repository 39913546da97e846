/** A part of a text and what stands in its place. Edits are in order and do not overlap. */
export interface Edit {
  from: number;
  to: number;
  text: string;
}

/**
 * Writes part of a text with its edits. What no edit touches is written as it stands, byte for byte.
 * @param between changes what lies between edits; as it is unless given
 */
export function applyEdits(
  source: string,
  edits: readonly Edit[],
  range: { from: number; to: number } = { from: 0, to: source.length },
  between: (text: string) => string = (text) => text,
): string {
  let written = '';
  let at = range.from;
  for (const { from, to, text } of edits) {
    if (from < at || to > range.to) continue;
    written += between(source.slice(at, from)) + text;
    at = to;
  }
  return written + between(source.slice(at, range.to));
}
