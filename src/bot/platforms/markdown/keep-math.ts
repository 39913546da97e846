import type { SyntaxNode, Tree } from '@lezer/common';
import { applyEdits, type Edit } from './edit-text.ts';
import { mathIn, type Math } from './math-spans.ts';

const MATH_SIGN = /\\[([\])]|\$/;
const TEXT_BLOCKS = /^(?:Paragraph|ATXHeading\d|SetextHeading\d|Task|TableCell)$/;
/** Nodes that contain no formula, or that no renderer changes. */
const NOT_MATH = new Set(['InlineCode', 'URL', 'Autolink', 'HTMLTag', 'Comment', 'ProcessingInstruction', 'LinkTitle']);
const BRACKETS = new Set(['(', ')', '[', ']']);
/** Escapes and emphasis delimiters: `*` unless surrounded by spaces, `_` unless a letter or digit precedes it, and `~~`. */
const CHANGED = /\\([!-/:-@[-`{-~])|(?<=\S)\*|\*(?=\S)|(?<![A-Za-z0-9])_|(?<=~)~|~(?=~)/g;

/** Whether a text may contain a formula. Without one of these characters there is none. */
export function hasFormula(markdown: string): boolean {
  return MATH_SIGN.test(markdown);
}

/**
 * Escapes formulas (`\(…\)`, `\[…\]`, `$…$`, `$$…$$`) so that they are shown verbatim: no platform typesets them, and
 * markdown renderers treat their backslashes as escapes and their characters as emphasis. Idempotent.
 */
export function escapeMath(markdown: string, tree: Tree): string {
  const edits: Edit[] = [];
  tree.iterate({
    enter: ({ name, node }) => {
      if (!TEXT_BLOCKS.test(name)) return true;
      const text = proseOf(markdown, node);
      for (const math of mathIn(text)) edits.push(...mathEdits(text, math, node.from));
      return false;
    },
  });
  return applyEdits(markdown, edits);
}

/** A block's text, with the nodes that contain no formula masked. */
export function proseOf(markdown: string, block: SyntaxNode): string {
  const blots: Edit[] = [];
  block.cursor().iterate(({ name, from, to }) => {
    if (!NOT_MATH.has(name)) return true;
    blots.push({ from, to, text: '\0'.repeat(to - from) });
    return false;
  });
  return applyEdits(markdown, blots, block);
}

/** Edits for one formula; none if every renderer shows it verbatim. */
function mathEdits(text: string, { from, to, markChars }: Math, offset: number): Edit[] {
  const inner = innerEdits(text.slice(from + markChars, to - markChars), from + markChars + offset);
  const hasBackslash = text[from] === '\\';
  if (inner.length === 0 && !hasBackslash) return [];
  const mark = (at: number): Edit => ({
    from: at + offset,
    to: at + markChars + offset,
    text: hasBackslash ? `\\${text.slice(at, at + markChars)}` : text.slice(at, at + markChars).replaceAll('$', '\\$'),
  });
  return markChars === to - from ? [mark(from)] : [mark(from), ...inner, mark(to - markChars)];
}

function innerEdits(inner: string, offset: number): Edit[] {
  return [...inner.matchAll(CHANGED)].map(({ index, 0: written, 1: escaped }) => ({
    from: index + offset,
    to: index + written.length + offset,
    text: shownAs(written, escaped),
  }));
}

/** Escapes only the backslash before a bracket; escaping both would start a formula again. */
function shownAs(written: string, escaped: string | undefined): string {
  if (escaped === undefined || BRACKETS.has(escaped)) return `\\${written}`;
  return `\\\\\\${escaped}`;
}
