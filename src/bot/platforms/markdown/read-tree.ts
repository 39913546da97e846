import type { Tree } from '@lezer/common';
import { GFM, parser } from '@lezer/markdown';
import { QUICK_INLINE } from './quick-inline.ts';

const reader = parser.configure([GFM, QUICK_INLINE]);

/** Above these limits parsing takes quadratic time. Only texts made to block the process exceed them. */
const MAX_BRACKETS = 400;
const MAX_SIGNS = 2_000;
/** Maximum characters, over all links, between the beginning of an address and the next blank. */
const MAX_ADDRESS_CHARS = 500_000;
const ADDRESS_ENDS = /\]\(|\s/g;
const DEEP_NESTING = /^[ \t]{0,200}(?:(?:[-+*>]|\d{1,9}[.)])[ \t]*){17}/m;
/** After a line with a bar, the parser checks for a table at each leading blank of the next line. */
const LONG_INDENT = /^[ \t>]{500}/m;
/**
 * Text that begins like a link reference definition but is not one, in a long paragraph: the parser restarts at its
 * beginning with each further line. A definition's label ends within 999 characters, and only a title may follow its
 * address.
 */
const LEAD = String.raw`^[ \t>*+\-\d.)]{0,80}\[`;
const IN_PARAGRAPH = String.raw`(?!\n[ \t]{0,80}\n)`;
const ENDLESS_LABEL = new RegExp(String.raw`${LEAD}(?:${IN_PARAGRAPH}(?:\\[^]|[^[\]\\])){999}`, 'm');
const NO_DEFINITION = new RegExp(
  String.raw`${LEAD}(?:\\[^]|[^[\]\\]){1,999}\]:\s{0,80}\S+(?!\S|[ \t]{0,80}(?:(?:"[^"\n]*"|'[^'\n]*'|\([^()\n]*\))[ \t]{0,80})?(?:\n|$))` +
    String.raw`(?:${IN_PARAGRAPH}[^]){2000}`,
  'm',
);
/** The parser searches an address in angle brackets from each bracket to the next blank. */
const ENDLESS_ADDRESS = /<[a-z][-\w+.]{1,80}:[^\s>]{1000}/i;
const INTRICATE = [DEEP_NESTING, LONG_INDENT, ENDLESS_LABEL, NO_DEFINITION, ENDLESS_ADDRESS];
const SIGN = /(?<inWord>(?<=[\p{L}\p{N}])_+(?=[\p{L}\p{N}]))|[[`<]|\*+|_+|~+|\n[ \t]*\n/gu;
const EMPHASIS = /[*_~]/;
/**
 * For each end of an emphasis, the parser searches its beginning in the whole paragraph. An underscore within a word is
 * neither.
 */
const SIGNS_OF_EMPHASIS = 2;

/**
 * Parses markdown (CommonMark plus GitHub's tables, strikethrough, tasks and bare addresses) into a tree of text positions.
 */
export function parseMarkdown(markdown: string): Tree {
  return reader.parse(markdown);
}

/**
 * Whether a text is so intricate that parsing it would block the process, such as deeply nested lists or a paragraph of
 * brackets.
 */
export function isTooComplex(markdown: string): boolean {
  if (INTRICATE.some((pattern) => pattern.test(markdown))) return true;
  if (markdown.length <= MAX_BRACKETS) return false;
  if (addressChars(markdown) > MAX_ADDRESS_CHARS) return true;
  let brackets = 0;
  let signs = 0;
  for (const { 0: sign, groups } of markdown.matchAll(SIGN)) {
    if (sign === '[') brackets += 1;
    else if (groups?.['inWord'] !== undefined) signs += sign.length;
    else if (EMPHASIS.test(sign)) signs += SIGNS_OF_EMPHASIS * Math.ceil(sign.length / 2);
    else if (sign.length === 1) signs += 1;
    else brackets = signs = 0;
    if (brackets > MAX_BRACKETS || signs > MAX_SIGNS) return true;
  }
  return false;
}

/** The characters that the parser reads to find where the addresses of links end: for each of them up to the next blank. */
function addressChars(markdown: string): number {
  if (!markdown.includes('](')) return 0;
  let chars = 0;
  let addresses = 0;
  let starts = 0;
  for (const { 0: sign, index } of markdown.matchAll(ADDRESS_ENDS)) {
    if (sign === '](') {
      addresses += 1;
      starts += index;
    } else {
      chars += addresses * index - starts;
      addresses = starts = 0;
    }
  }
  return chars + addresses * markdown.length - starts;
}
