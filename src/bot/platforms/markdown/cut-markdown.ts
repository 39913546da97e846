import type { SyntaxNode, Tree } from '@lezer/common';
import { cutText, findCutPosition } from './cut-text.ts';
import { fenceOf } from './fence.ts';
import { isTooComplex, parseMarkdown } from './read-tree.ts';

/** The block in which a cut falls: the text that reopens it in the next piece, and the text that closes it in this piece. */
interface BlockContinuation {
  opening: string;
  closing: string;
  /**
   * Number of indentation characters to remove from each line of the next piece, up to the given offset. Removes a list's
   * indent.
   */
  outdentChars: number;
  outdentTo: number;
}

const NOTHING: BlockContinuation = { opening: '', closing: '', outdentChars: 0, outdentTo: 0 };
/** Maximum bytes for closing a fence: line end, line prefix and marker. */
const CLOSING_ROOM_BYTES = 40;
/** Fences with a longer marker and prefix are cut without being closed. */
const MAX_FENCE_CHARS = 38;
/** Maximum share of a piece for a repeated table header; a larger header is not repeated. */
const MAX_HEAD_SHARE = 0.25;
/** Nodes that are kept whole: the cut moves in front of them if at least half of the piece remains. */
const UNBREAKABLE_NODES = new Set([
  'Link',
  'Image',
  'InlineCode',
  'Autolink',
  'URL',
  'Emphasis',
  'StrongEmphasis',
  'Strikethrough',
]);

/**
 * Splits markdown into pieces of at most `maxBytes` of UTF-8 each: at the end of a paragraph, else of a line, else at a
 * space or full stop, never inside a character. A fence that is cut is closed and reopened with its language; a table that
 * is cut repeats its header. Both count towards the limit. A fence that the text leaves open stays open.
 * @param maxBytes at least 128
 */
export function* cutMarkdown(markdown: string, maxBytes: number): Generator<string> {
  if (Buffer.byteLength(markdown) <= maxBytes) {
    yield markdown;
    return;
  }
  if (isTooComplex(markdown)) {
    yield* cutText(markdown, maxBytes);
    return;
  }
  const tree = parseMarkdown(markdown);
  let at = 0;
  let through = NOTHING;
  for (;;) {
    const roomBytes = maxBytes - Buffer.byteLength(through.opening);
    const rest = markdown.slice(at);
    if (Buffer.byteLength(rest) <= roomBytes) {
      yield through.opening + outdented(markdown, at, markdown.length, through);
      return;
    }
    const cut = avoidUnbreakable(tree, at, at + findCutPosition(rest, roomBytes - CLOSING_ROOM_BYTES));
    const next = continuationAt(markdown, tree, cut, maxBytes);
    const body = outdented(markdown, at, cut, through);
    const gap = next.closing === '' || body.endsWith('\n') ? '' : '\n';
    // A fence that was reopened without its list indent is closed without it.
    yield through.opening + body + gap + (cut <= through.outdentTo ? next.closing.trimStart() : next.closing);
    at = cut;
    through = next;
  }
}

function avoidUnbreakable(tree: Tree, at: number, cut: number): number {
  let best = cut;
  for (let node: SyntaxNode | null = tree.resolveInner(cut, -1); node; node = node.parent) {
    if (UNBREAKABLE_NODES.has(node.name) && node.from < cut && node.to > cut) best = node.from;
  }
  return best - at >= (cut - at) / 2 ? best : cut;
}

function continuationAt(markdown: string, tree: Tree, cut: number, maxBytes: number): BlockContinuation {
  for (let node: SyntaxNode | null = tree.resolveInner(cut, -1); node; node = node.parent) {
    if (node.name === 'FencedCode' && node.from < cut && node.to > cut) return throughFence(markdown, node);
    if (node.name === 'Table' && node.from < cut && node.to > cut) return throughTable(markdown, node, cut, maxBytes);
  }
  return NOTHING;
}

function throughFence(markdown: string, node: SyntaxNode): BlockContinuation {
  const fence = fenceOf(node, markdown);
  if (!fence || fence.lead.length + fence.mark.length > MAX_FENCE_CHARS) return NOTHING;
  const { mark, language, lead } = fence;
  if (lead.includes('>'))
    return { opening: `${lead}${mark}${language}\n`, closing: lead + mark, outdentChars: 0, outdentTo: 0 };
  return { opening: `${mark}${language}\n`, closing: lead + mark, outdentChars: lead.length, outdentTo: node.to };
}

function throughTable(markdown: string, node: SyntaxNode, cut: number, maxBytes: number): BlockContinuation {
  const delimiter = node.getChild('TableDelimiter');
  if (!delimiter || cut <= delimiter.to || markdown[cut - 1] !== '\n') return NOTHING;
  const lineStart = markdown.lastIndexOf('\n', node.from - 1) + 1;
  const opening = `${markdown.slice(lineStart, delimiter.to)}\n`;
  return Buffer.byteLength(opening) > maxBytes * MAX_HEAD_SHARE ? NOTHING : { ...NOTHING, opening };
}

function outdented(markdown: string, from: number, to: number, { outdentChars, outdentTo }: BlockContinuation): string {
  if (outdentChars === 0 || from >= outdentTo) return markdown.slice(from, to);
  const end = Math.min(to, outdentTo);
  const indent = new RegExp(`^[ \\t]{1,${String(outdentChars)}}`, 'gm');
  return markdown.slice(from, end).replace(indent, '') + markdown.slice(end, to);
}
