import type { Tree } from '@lezer/common';
import { GFM, parser } from '@lezer/markdown';
import { QUICK_INLINE } from './quick-inline.ts';

const reader = parser.configure([GFM, QUICK_INLINE]);

/** Beyond these, reading takes time by the square; nobody writes so, but a text made to hold us up does. */
const MOST_BRACKETS = 400;
const MOST_SIGNS = 2_000;
const DEEP_NESTING = /^[ \t]{0,200}(?:(?:[-+*>]|\d{1,9}[.)])[ \t]*){17}/m;
/** Whether what follows a line with a bar makes a table of it is found out by trying each blank before it. */
const LONG_INDENT = /^[ \t>]{500}/m;
/**
 * What begins like a definition and is none, in a paragraph that goes on for long: it is read from its beginning with each further
 * line. A definition has its label's end within 999 characters, and nothing behind its address but a title.
 */
const LEAD = String.raw`^[ \t>*+\-\d.)]{0,80}\[`;
const IN_PARAGRAPH = String.raw`(?!\n[ \t]{0,80}\n)`;
const ENDLESS_LABEL = new RegExp(String.raw`${LEAD}(?:${IN_PARAGRAPH}(?:\\[^]|[^[\]\\])){999}`, 'm');
const NO_DEFINITION = new RegExp(
  String.raw`${LEAD}(?:\\[^]|[^[\]\\]){1,999}\]:\s{0,80}\S+(?!\S|[ \t]{0,80}(?:(?:"[^"\n]*"|'[^'\n]*'|\([^()\n]*\))[ \t]{0,80})?(?:\n|$))` +
    String.raw`(?:${IN_PARAGRAPH}[^]){2000}`,
  'm',
);
/** An address in angle brackets is sought from each bracket to the next blank. */
const ENDLESS_ADDRESS = /<[a-z][-\w+.]{1,80}:[^\s>]{1000}/i;
const INTRICATE = [DEEP_NESTING, LONG_INDENT, ENDLESS_LABEL, NO_DEFINITION, ENDLESS_ADDRESS];
const SIGN = /[[*_~`<]|\n[ \t]*\n/g;

/** Reads markdown (CommonMark and GitHub's tables, strikethrough, tasks, bare addresses) to a tree of positions in the text. */
export function readTree(markdown: string): Tree {
  return reader.parse(markdown);
}

/** Whether a text is so intricate that reading it would hold up everybody else's: a list in a list in a list, a paragraph of brackets. */
export function isTooIntricate(markdown: string): boolean {
  if (INTRICATE.some((pattern) => pattern.test(markdown))) return true;
  if (markdown.length <= MOST_BRACKETS) return false;
  let brackets = 0;
  let signs = 0;
  for (const [sign] of markdown.matchAll(SIGN)) {
    if (sign === '[') brackets += 1;
    else if (sign.length === 1) signs += 1;
    else brackets = signs = 0;
    if (brackets > MOST_BRACKETS || signs > MOST_SIGNS) return true;
  }
  return false;
}
