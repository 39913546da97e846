import { Autolink, type InlineContext, type InlineParser, type MarkdownConfig } from '@lezer/markdown';

const SPACE = 32;
const EXCLAMATION = 33;
const OPENING = 91;
const BACKSLASH = 92;
const CLOSING = 93;
const LINE_END = 10;
const WORD_END = /[\s<]/g;
/** Maximum length of a bare address; no usable address is longer. */
const MAX_ADDRESS_CHARS = 1_000;
const MAY_BE_ADDRESS = /www\.|https?:\/\/|mailto:|xmpp:|[\w.+-]{1,100}@/y;

/**
 * Hard line breaks, as the standard parser finds them. The standard parser scans to the end of a run of spaces from each
 * space, which takes quadratic time; this one scans a run once, from its first space.
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

/**
 * The standard parser's bare addresses, limited in length: it re-checks the end of an address for each trailing character.
 */
const bareAddresses = (Autolink.parseInline ?? []).map(({ parse, ...rest }): InlineParser => ({
  ...rest,
  parse(cx, next, start) {
    MAY_BE_ADDRESS.lastIndex = start - cx.offset;
    if (!MAY_BE_ADDRESS.test(cx.text)) return -1;
    const window = cx.slice(start, start + MAX_ADDRESS_CHARS);
    WORD_END.lastIndex = 0;
    const isLong = window.length === MAX_ADDRESS_CHARS && !WORD_END.test(window);
    return isLong ? -1 : parse(cx, next, start);
  },
}));

const openBrackets = new WeakMap<InlineContext, number>();

/**
 * Treats a closing bracket without an opening one as text. For each of these, the standard parser searches everything before
 * it. As there, a closing bracket consumes the last opening one, whether or not they make a link.
 */
const strayBracket: InlineParser = {
  name: 'StrayBracket',
  before: 'Link',
  parse(cx, next, start) {
    const opens = next === OPENING || (next === EXCLAMATION && cx.char(start + 1) === OPENING);
    if (!opens && next !== CLOSING) return -1;
    const open = openBrackets.get(cx) ?? 0;
    if (!opens && open === 0) return start + 1;
    openBrackets.set(cx, opens ? open + 1 : open - 1);
    return -1;
  },
};

/** Replacements for the parts of the inline syntax that take quadratic time in the standard parser. Linear time. */
export const QUICK_INLINE: MarkdownConfig = { parseInline: [hardBreak, strayBracket, ...bareAddresses] };
