import type { Tree } from '@lezer/common';
import { GFM, parser } from '@lezer/markdown';

const reader = parser.configure(GFM);

/** Beyond these, reading takes time by the square; nobody writes so, but a text made to hold us up does. */
const MOST_BRACKETS = 400;
const MOST_SIGNS = 2_000;
const DEEP_NESTING = /^[ \t]{0,200}(?:(?:[-+*>]|\d{1,9}[.)])[ \t]*){17}/m;
const SIGN = /[[*_~`<]|\n[ \t]*\n/g;

/** Reads markdown (CommonMark and GitHub's tables, strikethrough, tasks, bare addresses) to a tree of positions in the text. */
export function readTree(markdown: string): Tree {
  return reader.parse(markdown);
}

/** Whether a text is so intricate that reading it would hold up everybody else's: a list in a list in a list, a paragraph of brackets. */
export function isTooIntricate(markdown: string): boolean {
  if (DEEP_NESTING.test(markdown)) return true;
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
