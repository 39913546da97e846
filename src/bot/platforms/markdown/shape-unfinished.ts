import type { SyntaxNode, Tree } from '@lezer/common';
import { fenceOf } from './fence.ts';
import { shapeInline } from './unfinished-inline.ts';

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
function visibleLength(markdown: string, leaf: SyntaxNode): number {
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
function beforeBareSigns(markdown: string, end: number): number {
  const start = markdown.lastIndexOf('\n', end - 1) + 1;
  return end > start && ONLY_SIGNS.test(markdown.slice(start, end)) ? start : end;
}

/** Visible part of a growing text: its first `end` characters, followed by the added text `closing`. */
export interface UnfinishedShape {
  end: number;
  closing: string;
}

const CONTAINERS = new Set(['Document', 'Blockquote', 'BulletList', 'OrderedList', 'ListItem', 'Task']);
const INLINE_BLOCKS = /^(?:Paragraph|ATXHeading\d|SetextHeading\d|Task)$/;
/** Partial broadcast mentions and characters are hidden until they are complete. */
const HALF_CALL =
  /@(?:a|al|all|e|ev|eve|ever|every|everyo|everyon|everyone|h|he|her|here|c|ch|cha|chan|chann|channe|channel|所|所有|所有人)?$/i;
const LINE_END = /^\n[ \t>]*$/;
const HALF_CHARACTER = /[\uD800-\uDBFF]$/;

/**
 * Shapes a growing text so that it does not flicker: text that may still change its meaning is held back briefly; open
 * markup is closed for this snapshot or held back. Only the end of the text is affected. Finished texts are not shaped.
 */
export function shapeUnfinished(markdown: string, tree: Tree, unfinished: 'close' | 'hold'): UnfinishedShape {
  const leaf = lastBlock(tree);
  let end = visibleLength(markdown, leaf);
  let closing = '';
  const fence = fenceOf(leaf, markdown);
  if (fence && !fence.isClosed && end > leaf.from) {
    const gap = markdown.slice(0, end).endsWith('\n') ? '' : '\n';
    closing = unfinished === 'close' ? `${gap}${fence.lead}${fence.mark}` : '';
  } else if (INLINE_BLOCKS.test(leaf.name) && leaf.to >= end && end > leaf.from) {
    ({ end, closing } = shapeInline(markdown, leaf, end, unfinished));
  } else if (unfinished === 'hold' && leaf.name === 'Paragraph' && LINE_END.test(markdown.slice(leaf.to, end))) {
    // The next line may belong to the paragraph, and hold the closing sign.
    const shape = shapeInline(markdown, leaf, leaf.to, unfinished);
    if (shape.end < leaf.to) end = shape.end;
  }
  if (closing === '') {
    end = HALF_CALL.exec(markdown.slice(0, end))?.index ?? end;
    if (end < markdown.length && !fence) end = beforeBareSigns(markdown, end);
    if (HALF_CHARACTER.test(markdown.slice(0, end))) end -= 1;
  }
  return { end, closing };
}

/** Start of the last block; later text does not change the text before it. */
export function settledEnd(markdown: string, tree: Tree): number {
  const last = tree.topNode.lastChild;
  return last ? markdown.lastIndexOf('\n', last.from - 1) + 1 : 0;
}

function lastBlock(tree: Tree): SyntaxNode {
  let node = tree.topNode;
  for (let last = node.lastChild; last && CONTAINERS.has(node.name); last = node.lastChild) {
    if (last.name.endsWith('Mark') || last.name === 'TaskMarker') break;
    node = last;
  }
  return node;
}
