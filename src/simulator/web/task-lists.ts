import type { MarkdownIt, StateCore, Token } from 'markdown-it';

const MARK = /^\[([ xX])\][ \t]+(?=\S)/;

/**
 * Turns list items that begin with `[ ]` or `[x]` into disabled checkboxes. The rest of the line is the label, and thereby
 * the accessible name.
 */
export function addTaskLists(markdown: MarkdownIt): void {
  markdown.core.ruler.after('inline', 'task_lists', ({ tokens, Token: TokenOf }) => {
    tokens.forEach((token, index) => {
      const text = token.children?.[0];
      if (!isFirstInItem(tokens, index) || token.children === null || text?.type !== 'text') return;
      const [mark, state] = MARK.exec(text.content) ?? [];
      if (mark === undefined) return;
      const box = new TokenOf('task_box', 'input', 0);
      box.content = state === ' ' ? '☐ ' : '☑ ';
      text.content = text.content.slice(mark.length);
      token.children = [
        new TokenOf('task_open', 'label', 1),
        box,
        ...token.children,
        new TokenOf('task_close', 'label', -1),
      ];
      tokens[index - 2]?.attrJoin('class', 'task');
    });
  });
  markdown.renderer.rules['task_box'] = (tokens, index) =>
    `<input type="checkbox" disabled${tokens[index]?.content === '☑ ' ? ' checked' : ''}> `;
}

function isFirstInItem(tokens: StateCore['tokens'], index: number): boolean {
  const before = (steps: number): Token | undefined => tokens[index - steps];
  return (
    tokens[index]?.type === 'inline' && before(1)?.type === 'paragraph_open' && before(2)?.type === 'list_item_open'
  );
}
