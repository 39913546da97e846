import { stripInvisible } from '../../../shared/text/sanitize-text.ts';
import { isTooComplex, parseMarkdown } from './read-tree.ts';

const THOUGHT_BEGINS = /(?<=^|\n)[ \t]{0,8}<\s{0,8}think(?:ing)?\s{0,8}>/gi;
const THOUGHT_ENDS = /<\s{0,8}\/\s{0,8}think(?:ing)?\s{0,8}>\s{0,64}/gi;
const CODE = new Set(['FencedCode', 'InlineCode', 'CodeText', 'CodeMark', 'CodeInfo']);

/**
 * Removes reasoning that a model wrote into its answer (`<think>…</think>` at the start of a line). Reasoning has its own
 * channel; this is the last safeguard. Tags in code belong to the answer and are kept.
 * @param isFinished false while the answer grows: an unclosed tag may still be closed. In a finished text an unclosed tag
 * counts as reasoning only at the start of the text
 * @param code `as words`: tags in code are treated like all others, because it is unknown what is code
 */
export function stripReasoning(text: string, isFinished: boolean, code: 'kept' | 'as words' = 'kept'): string {
  if (!/<\s{0,8}think/i.test(text)) return text;
  const tree = code === 'as words' || isTooComplex(text) ? undefined : parseMarkdown(text);
  let said = '';
  let at = 0;
  /** Position after which no closing tag exists. */
  let lastEnd = text.length;
  for (const { index, 0: begin } of text.matchAll(THOUGHT_BEGINS)) {
    const isCode = tree !== undefined && CODE.has(tree.resolveInner(index + begin.length - 1, -1).name);
    if (index < at || isCode) continue;
    THOUGHT_ENDS.lastIndex = index + begin.length;
    const end = index < lastEnd ? THOUGHT_ENDS.exec(text) : null;
    if (!end) lastEnd = Math.min(lastEnd, index);
    const before = said + text.slice(at, index);
    if (end) {
      said = before;
      at = end.index + end[0].length;
    } else if (!isFinished || before.trim() === '') return before;
  }
  return said + text.slice(at);
}

/** Whether a finished text is invisible: blank, or reasoning only. Cheap for texts of any length. */
export function isBlank(text: string): boolean {
  return stripReasoning(stripInvisible(text), true, 'as words').trim() === '';
}
