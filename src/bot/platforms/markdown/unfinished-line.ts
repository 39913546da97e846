import type { SyntaxNode } from '@lezer/common';
import { fenceOf } from './fence.ts';

/** A line that consists only of block syntax: a bullet, a heading, a rule, a fence. */
const ONLY_SIGNS = /^(?:[ \t>]|(?:[-*+]|\d{1,9}[.)])[ \t]){0,200}(?:[-=*+_#]{1,6}|\d{1,9}[.)]?|`{1,2}|~{1,2})?[ \t]*$/;
const ONLY_FENCE_SIGNS = /^[ \t>]{0,200}(`{1,16}|~{1,16})[ \t]*$/;
const TABLE_LINE = /^[ \t>]{0,200}\|/;
const UNDER_TABLE_HEAD = /^[ \t>]{0,200}[|:\- \t]*$/;
/** Longer lines are shown as they arrive. */
const MAX_HELD_CHARS = 1_000;

/**
 * Length of the visible part of a growing text, based on its last line, which may still change its meaning. @param leaf its
 * last block
 */
export function shownLines(markdown: string, leaf: SyntaxNode): number {
  const start = markdown.lastIndexOf('\n') + 1;
  const line = markdown.slice(start);
  if (line.length > MAX_HELD_CHARS) return markdown.length;
  const fence = fenceOf(leaf, markdown);
  if (fence) {
    if (fence.isClosed || leaf.to < start) return markdown.length;
    if (leaf.from >= start) return leaf.from;
    return ONLY_FENCE_SIGNS.exec(line)?.[1]?.startsWith(fence.mark.slice(0, 1)) === true ? start : markdown.length;
  }
  const before = markdown.lastIndexOf('\n', start - 2) + 1;
  if (leaf.name === 'Table' && leaf.to >= start && line !== '') return before <= leaf.from ? leaf.from : start;
  const isUnderHead = start > 0 && TABLE_LINE.test(markdown.slice(before, start)) && UNDER_TABLE_HEAD.test(line);
  if (leaf.name !== 'Table' && isUnderHead && leaf.to >= start - 1) return before;
  if (TABLE_LINE.test(line)) return start;
  return beforeBareSigns(markdown, markdown.length);
}

/** Start of the last line if it consists only of block syntax; otherwise `end`. */
export function beforeBareSigns(markdown: string, end: number): number {
  const start = markdown.lastIndexOf('\n', end - 1) + 1;
  return end > start && ONLY_SIGNS.test(markdown.slice(start, end)) ? start : end;
}
