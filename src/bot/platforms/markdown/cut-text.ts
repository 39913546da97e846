/** A nicer place to cut is looked for in the second half of the room. */
const LOOK_BACK = 0.5;
const GRAPHEME_WINDOW_CHARS = 64;
const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' });
const encoder = new TextEncoder();

/** How many UTF-16 units of a text fit `maxBytes` of UTF-8 without cutting a character as people see it. */
export function fittingChars(text: string, maxBytes: number): number {
  const { read } = encoder.encodeInto(text, new Uint8Array(Math.max(0, maxBytes)));
  if (read >= text.length) return text.length;
  const start = Math.max(0, read - GRAPHEME_WINDOW_CHARS);
  const segments = graphemes.segment(text.slice(start, read + GRAPHEME_WINDOW_CHARS));
  const boundary = start + (segments.containing(read - start)?.index ?? 0);
  // A character longer than the window (marks piled on marks) is cut after all.
  return boundary > start ? boundary : read;
}

/** Where to cut a text that is too long: at a paragraph's end, else at a line's, else at a sentence's or a word's. Counts UTF-16 units. */
export function niceCut(text: string, maxBytes: number): number {
  const most = Math.max(1, fittingChars(text, maxBytes));
  const least = Math.floor(most * LOOK_BACK);
  for (const end of ['\n\n', '\n', '。', ' ']) {
    const at = text.lastIndexOf(end, most - end.length);
    if (at >= least) return at + end.length;
  }
  return beforeMark(text, most);
}

/** Cuts a text that is not markdown into pieces of at most `maxBytes` of UTF-8. The pieces joined are the text. */
export function* cutText(text: string, maxBytes: number): Generator<string> {
  let rest = text;
  while (Buffer.byteLength(rest) > maxBytes) {
    const cut = niceCut(rest, maxBytes);
    yield rest.slice(0, cut);
    rest = rest.slice(cut);
  }
  yield rest;
}

/** A cut must not make a call to everybody out of another word, `@all|ocate`: such a word goes to the next piece as a whole. */
function beforeMark(text: string, cut: number): number {
  const word = /@\w*$/.exec(text.slice(Math.max(0, cut - 16), cut))?.[0] ?? '';
  const isCutThrough = word !== '' && /^\w/.test(text.slice(cut, cut + 1));
  return isCutThrough && cut > word.length ? cut - word.length : cut;
}
