import type { SyntaxNode } from '@lezer/common';

/** A fenced code block: its marker, its language, and the prefix of its line (quotes, list indent). */
export interface Fence {
  mark: string;
  language: string;
  /** Prefix of each line: `> ` in quotes, spaces in lists. */
  lead: string;
  isClosed: boolean;
}

/** @returns undefined for a node that is not a fenced code block */
export function fenceOf(node: SyntaxNode, markdown: string): Fence | undefined {
  if (node.name !== 'FencedCode') return undefined;
  const [open, close] = node.getChildren('CodeMark');
  if (!open) return undefined;
  const lineStart = markdown.lastIndexOf('\n', node.from - 1) + 1;
  const info = node.getChild('CodeInfo');
  const language = info ? (/^[\w+#.-]{1,32}(?!\S)/.exec(markdown.slice(info.from, info.to))?.[0] ?? '') : '';
  return {
    mark: markdown.slice(open.from, open.to),
    language,
    lead: markdown.slice(lineStart, node.from).replace(/[^>\s]/g, ' '),
    isClosed: close !== undefined,
  };
}
