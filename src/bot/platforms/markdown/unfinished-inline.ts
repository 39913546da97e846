import type { SyntaxNode } from '@lezer/common';
import { applyEdits } from './edit-text.ts';
import { proseOf } from './keep-math.ts';
import { mathIn, openMathAt } from './math-spans.ts';

/** Visible part of a growing paragraph, and the text that closes it for this snapshot. */
export interface InlineShape {
  end: number;
  closing: string;
}

/** Maximum characters held back because of open emphasis or code. */
const MAX_HELD_CHARS = 120;
/** A link may contain an image, which is masked once it is complete. */
const HALF_LINK =
  /!?\[(?:[^[\]\n\0]{0,120}(?:\0{1,2000}[^[\]\n\0]{0,120}){0,2}|[^[\]\n\0]{0,300}(?:\0{1,2000}[^[\]\n\0]{0,120}){0,2}\](?:\((?:[^\s()]|\((?:[^\s()]{0,300}\))?){0,2000}(?:\s{1,8}["'][^"'\n]{0,200}["']?)?|\[[^[\]\n]{0,120}|:)?)$/;
/** Maximum length of an incomplete link that is held back: label, address and title. */
const MAX_HALF_LINK_CHARS = 2_600;
const HALF_TAG = /<(?:[!@#/?A-Za-z][^<>\n]{0,100})?$/;
const OPEN_CODE = /`+/;
const OPEN_EMPHASIS =
  /(?<![A-Za-z0-9*_])[*_]{1,3}(?=[^\s*_])|(?<=[A-Za-z0-9])(?:\*\*(?=[^\s*])|\*(?=[^\s\p{ASCII}]))|~~(?=[^\s~])/gu;
const TRAILING_SIGNS = /(?<![*_~`])[*_~`]+$/;
const MARKED = new Set(['Emphasis', 'StrongEmphasis', 'Strikethrough', 'InlineCode']);
const LINKS = new Set(['Link', 'Image']);
const BARE_SIGNS = /(?:(?<![*_~])[*_~]+|\\)$/;

/**
 * Shapes a growing paragraph: an incomplete link, tag or formula is held back; open emphasis and code are closed or held
 * back.
 * @param leaf the last block of the text @param end end of the text that is shown anyway
 */
export function shapeInline(
  markdown: string,
  leaf: SyntaxNode,
  end: number,
  unfinished: 'close' | 'hold',
): InlineShape {
  const from = leaf.from;
  const prose = proseOf(markdown, leaf).slice(0, Math.max(0, end - from));
  let open = withoutMath(withoutWhole(markdown, leaf, unfinished).slice(0, prose.length), prose);
  const hold = (at: number): void => {
    open = open.slice(0, at);
  };
  // An image may begin here.
  if (open.endsWith('!') && markdown[from + open.length] !== '\n') hold(open.length - 1);
  // A half image may begin a half link.
  for (let nesting = 0; nesting < 2; nesting += 1) {
    const tailAt = Math.max(0, open.length - MAX_HALF_LINK_CHARS);
    const half = HALF_LINK.exec(open.slice(tailAt));
    if (half) hold(tailAt + half.index);
  }
  const code = OPEN_CODE.exec(open);
  if (!code) hold(HALF_TAG.exec(open)?.index ?? open.length);
  const codeAt = code?.index ?? open.length;
  const math = openMathAt(prose.slice(0, open.length));
  if (math < codeAt) hold(math);
  const isBareCode = code !== null && codeAt + code[0].length >= open.length;
  if (isBareCode) hold(codeAt);
  else if (!code) hold(BARE_SIGNS.exec(open)?.index ?? open.length);
  const emphasis = [...open.slice(0, codeAt).matchAll(OPEN_EMPHASIS)];
  if (unfinished === 'hold') {
    const first = Math.min(emphasis[0]?.index ?? open.length, codeAt);
    if (open.length - first <= MAX_HELD_CHARS) hold(first);
    return { end: from + open.length, closing: '' };
  }
  const signs = emphasis.map(([sign]) => [...sign].reverse().join('')).reverse();
  const closing = (code && !isBareCode ? code[0] : '') + signs.join('');
  // A closing delimiter after a blank does not close.
  return { end: from + (closing === '' ? open : open.trimEnd()).length, closing };
}

/**
 * The paragraph with its complete nodes masked, so that only unmatched delimiters are left. What is shown once and never
 * taken back is complete only with the character after its closing sign: that sign may become longer, or close nothing.
 */
function withoutWhole(markdown: string, leaf: SyntaxNode, unfinished: 'close' | 'hold'): string {
  const signsAt = TRAILING_SIGNS.exec(markdown)?.index ?? markdown.length;
  let open = '';
  let at = leaf.from;
  const mask = (parent: SyntaxNode): void => {
    for (let node = parent.firstChild; node; node = node.nextSibling) {
      if (node.from < at || node.name.endsWith('Mark')) continue;
      const isWhole = !LINKS.has(node.name) || node.getChild('URL') !== null || node.getChild('LinkLabel') !== null;
      const mayChange = unfinished === 'hold' && node.to > signsAt && MARKED.has(node.name);
      if (mayChange) mask(node);
      else if (isWhole) {
        open += markdown.slice(at, node.from) + '\0'.repeat(node.to - node.from);
        at = node.to;
      } else if (parent === leaf) mask(node);
    }
  };
  mask(leaf);
  return open + markdown.slice(at);
}

/** @param prose the same text with its formulas unmasked */
function withoutMath(open: string, prose: string): string {
  const edits = mathIn(prose).map(({ from, to }) => ({ from, to, text: '\0'.repeat(to - from) }));
  return applyEdits(open, edits);
}
