/** A fenced code block that is open: its mark, and the language named behind it. */
export interface CodeFence {
  mark: string;
  language: string;
}

const FENCE_LINE = /^[ \t]{0,12}(`{3,16}|~{3,16})(?![`~])([^\n]*)$/;

/** The fence that is open after a line, given the one that was open before it (CommonMark 4.5; lists indent more deeply). */
export function fenceAfter(open: CodeFence | undefined, line: string): CodeFence | undefined {
  const match = FENCE_LINE.exec(line);
  if (!match) return open;
  const [, mark = '', info = ''] = match;
  if (open) {
    const closes = mark.startsWith(open.mark) && info.trim() === '';
    return closes ? undefined : open;
  }
  if (mark.startsWith('`') && info.includes('`')) return undefined;
  return { mark, language: /^[\w+#.-]{1,32}(?!\S)/.exec(info.trim())?.[0] ?? '' };
}

/** The fence in which a text ends, if it does. */
export function openFence(text: string): CodeFence | undefined {
  let open: CodeFence | undefined;
  for (const line of text.split('\n')) open = fenceAfter(open, line);
  return open;
}
