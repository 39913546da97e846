import type { Tree } from '@lezer/common';
import { GFM, parser } from '@lezer/markdown';
import { QUICK_INLINE } from './quick-inline.ts';

const reader = parser.configure([GFM, QUICK_INLINE]);

/** Above these limits parsing takes quadratic time. Only texts made to block the process exceed them. */
const MAX_BRACKETS = 400;
const MAX_SIGNS = 2_000;
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
const SIGN = /[[*_~`<]|\n[ \t]*\n/g;

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
  let brackets = 0;
  let signs = 0;
  for (const [sign] of markdown.matchAll(SIGN)) {
    if (sign === '[') brackets += 1;
    else if (sign.length === 1) signs += 1;
    else brackets = signs = 0;
    if (brackets > MAX_BRACKETS || signs > MAX_SIGNS) return true;
  }
  return false;
}
