import type { SyntaxNode, Tree } from '@lezer/common';
import { fenceOf } from './fence.ts';
import { shapeInline } from './unfinished-inline.ts';
import { beforeBareSigns, shownLines } from './unfinished-line.ts';

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
const HALF_CHARACTER = /[\uD800-\uDBFF]$/;

/**
 * Shapes a growing text so that it does not flicker: text that may still change its meaning is held back briefly; open
 * markup is closed for this snapshot or held back. Only the end of the text is affected. Finished texts are not shaped.
 */
export function shapeUnfinished(markdown: string, tree: Tree, unfinished: 'close' | 'hold'): UnfinishedShape {
  const leaf = lastBlock(tree);
  let end = shownLines(markdown, leaf);
  let closing = '';
  const fence = fenceOf(leaf, markdown);
  if (fence && !fence.isClosed && end > leaf.from) {
    const gap = markdown.slice(0, end).endsWith('\n') ? '' : '\n';
    closing = unfinished === 'close' ? `${gap}${fence.lead}${fence.mark}` : '';
  } else if (INLINE_BLOCKS.test(leaf.name) && leaf.to >= end && end > leaf.from) {
    ({ end, closing } = shapeInline(markdown, leaf, end, unfinished));
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
