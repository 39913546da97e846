import { Autolink, type InlineParser, type MarkdownConfig } from '@lezer/markdown';

const SPACE = 32;
const BACKSLASH = 92;
const LINE_END = 10;
const WORD_END = /[\s<]/g;
/** What is longer is no address that a person could use. */
const MOST_ADDRESS_CHARS = 1_000;
const MAY_BE_ADDRESS = /www\.|https?:\/\/|mailto:|xmpp:|[\w.+-]{1,100}@/y;

/**
 * A line's end that is kept, as the reader's own finds it. That one looks to the end of a run of spaces from each of them, which
 * takes time by the square of the run; here a run is looked through once, from its first space.
 */
const hardBreak: InlineParser = {
  name: 'HardBreak',
  parse(cx, next, start) {
    let end = start + 1;
    if (next === SPACE) {
      if (start > cx.offset && cx.char(start - 1) === SPACE) return -1;
      while (cx.char(end) === SPACE) end += 1;
      if (end < start + 2) return -1;
    } else if (next !== BACKSLASH) return -1;
    return cx.char(end) === LINE_END ? cx.addElement(cx.elt('HardBreak', start, end + 1)) : -1;
  },
};

/** The reader's own bare addresses, of a sensible length: what follows an address is judged once more for each sign at its end. */
const bareAddresses = (Autolink.parseInline ?? []).map(({ parse, ...rest }): InlineParser => ({
  ...rest,
  parse(cx, next, start) {
    MAY_BE_ADDRESS.lastIndex = start - cx.offset;
    if (!MAY_BE_ADDRESS.test(cx.text)) return -1;
    const window = cx.slice(start, start + MOST_ADDRESS_CHARS);
    WORD_END.lastIndex = 0;
    const isLong = window.length === MOST_ADDRESS_CHARS && !WORD_END.test(window);
    return isLong ? -1 : parse(cx, next, start);
  },
}));

/** What of the reader's inline syntax takes time by the square of a run, done in a time that grows with it. */
export const QUICK_INLINE: MarkdownConfig = { parseInline: [hardBreak, ...bareAddresses] };
