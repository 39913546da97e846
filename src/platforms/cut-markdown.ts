import { openFence, type CodeFence } from './code-fence.ts';

/** A piece of a longer markdown text: `body` is the text's own, the rest reopens and closes a code fence cut through. */
export interface MarkdownPiece {
  prefix: string;
  body: string;
  suffix: string;
}

/** What closing a fence can cost: a line end and a mark of 16 signs. */
const CLOSING_ROOM_BYTES = 17;
/** A nicer place to cut is looked for in the second half of the room. */
const LOOK_BACK = 0.5;
const GRAPHEME_WINDOW_CHARS = 64;
const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

/**
 * Cuts markdown into pieces of at most `maxBytes` of UTF-8 each, fences included: at a paragraph's end, else at a line's,
 * else at a space or a full stop, never inside a character. The bodies joined are the text. A fence that the text itself
 * leaves open stays open.
 * @param maxBytes at least 128
 */
export function* cutMarkdown(text: string, maxBytes: number): Generator<MarkdownPiece> {
  let rest = text;
  let fence: CodeFence | undefined;
  do {
    const prefix = fence ? `${fence.mark}${fence.language}\n` : '';
    const roomBytes = maxBytes - Buffer.byteLength(prefix);
    const fits = Buffer.byteLength(rest) <= roomBytes;
    const body = fits ? rest : rest.slice(0, niceCut(rest, roomBytes - CLOSING_ROOM_BYTES));
    rest = rest.slice(body.length);
    fence = fits ? undefined : openFence(prefix + body);
    const suffix = fence ? `${body.endsWith('\n') ? '' : '\n'}${fence.mark}` : '';
    yield { prefix, body, suffix };
  } while (rest !== '');
}

/** How many UTF-16 units of a text fit `maxBytes` of UTF-8 without cutting a character as people see it. */
export function fittingChars(text: string, maxBytes: number): number {
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(Math.max(0, maxBytes)));
  if (read >= text.length) return text.length;
  const start = Math.max(0, read - GRAPHEME_WINDOW_CHARS);
  const segments = graphemes.segment(text.slice(start, read + GRAPHEME_WINDOW_CHARS));
  const boundary = start + (segments.containing(read - start)?.index ?? 0);
  // A character longer than the window (marks piled on marks) is cut after all.
  return boundary > start ? boundary : read;
}

function niceCut(text: string, maxBytes: number): number {
  const most = Math.max(1, fittingChars(text, maxBytes));
  const least = Math.floor(most * LOOK_BACK);
  for (const end of ['\n\n', '\n', '。', ' ']) {
    const at = text.lastIndexOf(end, most - end.length);
    if (at >= least) return at + end.length;
  }
  return beforeMark(text, most);
}

/** A cut must not make a call to everybody out of another word, `@all|ocate`: such a word goes to the next piece as a whole. */
function beforeMark(text: string, cut: number): number {
  const word = /@\w*$/.exec(text.slice(Math.max(0, cut - 16), cut))?.[0] ?? '';
  const isCutThrough = word !== '' && /^\w/.test(text.slice(cut, cut + 1));
  return isCutThrough && cut > word.length ? cut - word.length : cut;
}
