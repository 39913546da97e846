/** A range of a text and its replacement. Edits are sorted and do not overlap. */
export interface Edit {
  from: number;
  to: number;
  text: string;
}

/**
 * Applies edits to a range of a text. Text outside the edits is copied byte for byte.
 * @param between transforms the text between edits. Defaults to no change
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
