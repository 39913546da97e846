import { withoutUnseen } from '../../../shared/text/sanitize-text.ts';
import { isTooIntricate, readTree } from './read-tree.ts';

const THOUGHT_BEGINS = /(?<=^|\n)[ \t]{0,8}<\s{0,8}think(?:ing)?\s{0,8}>/gi;
const THOUGHT_ENDS = /<\s{0,8}\/\s{0,8}think(?:ing)?\s{0,8}>\s{0,64}/gi;
const CODE = new Set(['FencedCode', 'InlineCode', 'CodeText', 'CodeMark', 'CodeInfo']);

/**
 * Takes out what a model thought aloud in its answer, `<think>…</think>` from a line's beginning on. Thoughts
 * have a channel of their own; this is the last gate. Tags in code are what the answer is about, and stay.
 * @param isFinished false while the answer grows: a thought that has no end yet may get one. In a finished text only one that the
 * text begins with is a thought without an end; elsewhere it is a word like others
 * @param code `as words`: where it is not known what is code, a tag in it is a tag
 */
export function withoutThoughts(text: string, isFinished: boolean, code: 'kept' | 'as words' = 'kept'): string {
  if (!/<\s{0,8}think/i.test(text)) return text;
  const tree = code === 'as words' || isTooIntricate(text) ? undefined : readTree(text);
  let said = '';
  let at = 0;
  /** From here on no thought ends. */
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

/** Whether nothing of a finished text is seen: it is blank, or nothing but a thought. Costs little, however long the text is. */
export function isBlank(text: string): boolean {
  return withoutThoughts(withoutUnseen(text), true, 'as words').trim() === '';
}
