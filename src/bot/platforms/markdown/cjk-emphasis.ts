import { InlineContext, parser, GFM, type DelimiterType, type InlineParser } from '@lezer/markdown';
import type { SyntaxNode, Tree } from '@lezer/common';
import { around, friendlyFlanking, isPunctuation, strictFlanking } from '../../../shared/text/emphasis-flanking.ts';
import { applyEdits, type Edit } from './edit-text.ts';
import { QUICK_INLINE } from './quick-inline.ts';
import { isTooComplex } from './read-tree.ts';

/*
 * Emphasis next to Chinese, Japanese and Korean text. In CommonMark an emphasis delimiter between punctuation and a letter
 * neither opens nor closes, so `**重要。**请看` is not bold, while the words between two such texts may be. Models assume the
 * rules of the CJK-friendly amendment, in which CJK letters and punctuation never prevent a delimiter from opening or
 * closing.
 */

/** A hair space: every parser treats it as white space, and it is barely visible. */
const THIN_SPACE = '\u200a';
/** A delimiter between punctuation and a letter; without one, both rules give the same result. */
const MAY_DIFFER =
  /(?![*~])[\p{P}\p{S}](?:\*{1,16}|~~)[^\s\p{P}\p{S}]|[^\s\p{P}\p{S}](?:\*{1,16}|~~)(?![*~])[\p{P}\p{S}]/u;
const STRIKETHROUGH: DelimiterType = { resolve: 'Strikethrough', mark: 'StrikethroughMark' };
const MARKS = new Set(['EmphasisMark', 'StrikethroughMark']);
const EMPHASIS = new Set(['Emphasis', 'StrongEmphasis', 'Strikethrough']);
const ASTERISK = 42;
const UNDERSCORE = 95;
const TILDE = 126;

const emphasis: InlineParser = {
  name: 'Emphasis',
  parse(cx, next, start) {
    if (next !== ASTERISK && next !== UNDERSCORE) return -1;
    let end = start + 1;
    while (cx.char(end) === next) end += 1;
    const [before, after] = around(cx.text, start - cx.offset, end - cx.offset);
    const { left, right } = friendlyFlanking(before, after);
    if (next === ASTERISK) return cx.addDelimiter(InlineContext.emphasisAsterisk, start, end, left, right);
    const opens = left && (!right || isPunctuation(before));
    const closes = right && (!left || isPunctuation(after));
    return cx.addDelimiter(InlineContext.emphasisUnderscore, start, end, opens, closes);
  },
};

const strikethrough: InlineParser = {
  name: 'Strikethrough',
  after: 'Emphasis',
  parse(cx, next, start) {
    if (next !== TILDE || cx.char(start + 1) !== TILDE || cx.char(start + 2) === TILDE) return -1;
    const { left, right } = friendlyFlanking(...around(cx.text, start - cx.offset, start + 2 - cx.offset));
    return cx.addDelimiter(STRIKETHROUGH, start, start + 2, left, right);
  },
};

const reader = parser.configure([GFM, QUICK_INLINE, { parseInline: [emphasis, strikethrough] }]);

/** Whether the two rules may give different results. Cheap. */
export function mayDiffer(markdown: string): boolean {
  return MAY_DIFFER.test(markdown);
}

/** Parses markdown like `readTree`, with the CJK-friendly emphasis rules. */
export function parseCjkFriendly(markdown: string): Tree {
  return reader.parse(markdown);
}

/**
 * Makes the intended emphasis work in every CommonMark parser: inserts a hair space outside each delimiter that would
 * neither open nor close. Idempotent.
 */
export function separateEmphasis(markdown: string): string {
  if (!mayDiffer(markdown) || isTooComplex(markdown)) return markdown;
  const openings = new Map<number, SyntaxNode>();
  const closings = new Map<number, SyntaxNode>();
  parseCjkFriendly(markdown).iterate({
    enter: ({ name, node }) => {
      if (!EMPHASIS.has(name)) return;
      const [open, close] = [node.firstChild, node.lastChild];
      if (open && close && MARKS.has(open.name) && MARKS.has(close.name)) {
        openings.set(open.to, open);
        closings.set(close.from, close);
      }
    },
  });
  const places = new Set<number>();
  for (const { from, to } of openings.values()) {
    // In `***` the inner delimiter follows the outer one.
    let start = from;
    for (let outer = openings.get(start); outer; outer = openings.get(start)) start = outer.from;
    if (!strictFlanking(...around(markdown, start, to)).left) places.add(start);
  }
  for (const { from, to } of closings.values()) {
    let end = to;
    for (let outer = closings.get(end); outer; outer = closings.get(end)) end = outer.to;
    if (!strictFlanking(...around(markdown, from, end)).right) places.add(end);
  }
  const edits: Edit[] = [...places].sort((a, b) => a - b).map((at) => ({ from: at, to: at, text: THIN_SPACE }));
  return applyEdits(markdown, edits);
}
