/** A natural boundary is searched in the second half of the available room only. */
const LOOK_BACK = 0.5;
const GRAPHEME_WINDOW_CHARS = 64;
const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' });
const encoder = new TextEncoder();

/** Number of UTF-16 units of a text that fit `maxBytes` of UTF-8 without splitting a grapheme. */
export function fittingChars(text: string, maxBytes: number): number {
  const { read } = encoder.encodeInto(text, new Uint8Array(Math.max(0, maxBytes)));
  if (read >= text.length) return text.length;
  const start = Math.max(0, read - GRAPHEME_WINDOW_CHARS);
  const segments = graphemes.segment(text.slice(start, read + GRAPHEME_WINDOW_CHARS));
  const boundary = start + (segments.containing(read - start)?.index ?? 0);
  // A grapheme longer than the window (many stacked combining characters) is split.
  return boundary > start ? boundary : read;
}

/**
 * Best position to cut a text that is too long: the end of a paragraph, else of a line, a sentence or a word. Counted in
 * UTF-16 units.
 */
export function findCutPosition(text: string, maxBytes: number): number {
  const maxChars = Math.max(1, fittingChars(text, maxBytes));
  const minChars = Math.floor(maxChars * LOOK_BACK);
  for (const end of ['\n\n', '\n', '。', ' ']) {
    const at = text.lastIndexOf(end, maxChars - end.length);
    if (at >= minChars) return at + end.length;
  }
  return beforeMark(text, maxChars);
}

/** The last position to cut a text within `maxBytes` of UTF-8, in a word if necessary. Counted in UTF-16 units. */
export function anyCutPosition(text: string, maxBytes: number): number {
  return beforeMark(text, Math.max(1, fittingChars(text, maxBytes)));
}

/** Splits plain text into pieces of at most `maxBytes` of UTF-8. The joined pieces equal the text. */
export function* cutText(text: string, maxBytes: number): Generator<string> {
  let rest = text;
  while (Buffer.byteLength(rest) > maxBytes) {
    const cut = findCutPosition(rest, maxBytes);
    yield rest.slice(0, cut);
    rest = rest.slice(cut);
  }
  yield rest;
}

/** Avoids creating a broadcast mention by cutting another word (`@all|ocate`): the whole word moves to the next piece. */
function beforeMark(text: string, cut: number): number {
  const word = /@\w*$/.exec(text.slice(Math.max(0, cut - 16), cut))?.[0] ?? '';
  const isCutThrough = word !== '' && /^\w/.test(text.slice(cut, cut + 1));
  return isCutThrough && cut > word.length ? cut - word.length : cut;
}
