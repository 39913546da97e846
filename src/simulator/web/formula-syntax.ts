import type { MarkdownIt, StateBlock, StateInline } from 'markdown-it';

/** Draws a formula as HTML. @returns undefined if it cannot; then its source is shown */
export type DrawFormula = (tex: string, isDisplay: boolean) => string | undefined;

/** Maximum characters of a formula; a longer one is text. Bounds the search for the closing delimiter. */
export const MAX_FORMULA_CHARS = 2_000;

interface Delimiters {
  open: string;
  close: string;
  isDisplay: boolean;
}

/** `$$` before `$`, so that the longer one is found first. */
const DELIMITERS: readonly Delimiters[] = [
  { open: '$$', close: '$$', isDisplay: true },
  { open: '\\[', close: '\\]', isDisplay: true },
  { open: '\\(', close: '\\)', isDisplay: false },
  { open: '$', close: '$', isDisplay: false },
];

const WORD_SIGN = /[\p{Script=Latin}\p{N}]/u;
const DIGIT = /\p{N}/u;
/** Signs by which a formula that begins with a number differs from two prices. */
const FORMULA_SIGN = /[\\^_={}<>+*/]/;

/** Whether a text may contain a formula. */
export function mayHaveFormula(text: string): boolean {
  return text.includes('$') || text.includes('\\(') || text.includes('\\[');
}

/**
 * Adds the formulas `$…$`, `$$…$$`, `\(…\)` and `\[…\]` to the parser, as tokens `formula` (inline) and `formula_block`. A token's
 * `content` is the TeX source, its `markup` the opening delimiter, its `info` the closing one.
 */
export function addFormulas(markdown: MarkdownIt): void {
  markdown.inline.ruler.before('escape', 'formula', readInline);
  markdown.block.ruler.before('fence', 'formula_block', readBlock, { alt: ['paragraph', 'blockquote', 'list'] });
}

function readInline(state: StateInline, silent: boolean): boolean {
  const { src, pos, posMax } = state;
  const found = DELIMITERS.find(({ open }) => src.startsWith(open, pos));
  if (found === undefined) return false;
  const from = pos + found.open.length;
  const window = src.slice(from, Math.min(posMax, from + MAX_FORMULA_CHARS + found.close.length));
  const length = closingAt(window, found.close);
  if (length <= 0) return false;
  const tex = window.slice(0, length);
  const end = from + length + found.close.length;
  if (tex.trim() === '') return false;
  if (found.open === '$' && !isDollarFormula(tex, src[pos - 1] ?? '', src.slice(end, Math.min(end + 2, posMax))))
    return false;
  if (!silent) Object.assign(state.push('formula', '', 0), partsOf(tex, found));
  state.pos = end;
  return true;
}

/** Position of an unescaped closing delimiter. */
function closingAt(text: string, close: string): number {
  for (let at = text.indexOf(close); at >= 0; at = text.indexOf(close, at + 1)) {
    // The delimiters that begin with a backslash cannot be escaped by one.
    if (close !== '$' || text[at - 1] !== '\\') return at;
  }
  return -1;
}

/**
 * Distinguishes a formula from prices ("$5 and $10") and variables ("$HOME/$USER"): no white space inside the dollar signs, no
 * word or number outside, one line, and a formula that begins with a number contains a sign that a price does not.
 */
function isDollarFormula(tex: string, before: string, after: string): boolean {
  if (/^\s|\s$|\n/.test(tex) || WORD_SIGN.test(before) || WORD_SIGN.test(after.slice(0, 1))) return false;
  if (tex.includes('$')) return false;
  return !DIGIT.test(tex.slice(0, 1)) || FORMULA_SIGN.test(tex) || !/[\s,，、;；]|\p{Script=Han}/u.test(tex);
}

/** A formula that begins a line: to the closing delimiter at the end of the same or a later line. */
function readBlock(state: StateBlock, startLine: number, endLine: number, silent: boolean): boolean {
  if ((state.sCount[startLine] ?? 0) - state.blkIndent >= 4) return false;
  const first = lineOf(state, startLine);
  const found = DELIMITERS.find(({ open, isDisplay }) => isDisplay && first.startsWith(open));
  if (found === undefined) return false;
  const lines: string[] = [];
  let chars = 0;
  for (let line = startLine; line < endLine && chars <= MAX_FORMULA_CHARS; line += 1) {
    // A line with less indentation ends the list item or the quotation that contains the formula.
    if (line > startLine && (state.sCount[line] ?? 0) < state.blkIndent) return false;
    const text = line === startLine ? first.slice(found.open.length) : lineOf(state, line);
    const at = text.indexOf(found.close);
    if (at >= 0) {
      const tex = [...lines, text.slice(0, at)].join('\n');
      if (text.slice(at + found.close.length).trim() !== '' || tex.trim() === '') return false;
      if (tex.length > MAX_FORMULA_CHARS) return false;
      if (silent) return true;
      state.line = line + 1;
      const token = state.push('formula_block', '', 0);
      Object.assign(token, partsOf(tex, found), { block: true, map: [startLine, line + 1] });
      return true;
    }
    lines.push(text);
    chars += text.length + 1;
  }
  return false;
}

function partsOf(tex: string, { open, close, isDisplay }: Delimiters) {
  return { content: tex, markup: open, info: close, meta: { isDisplay } };
}

function lineOf(state: StateBlock, line: number): string {
  const from = (state.bMarks[line] ?? 0) + (state.tShift[line] ?? 0);
  return state.src.slice(from, state.eMarks[line]);
}
