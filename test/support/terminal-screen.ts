/** Characters that take two columns. */
const WIDE = /[\u1100-\u115F\u2E80-\uA4CF\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF00-\uFF60\uFFE0-\uFFE6]/;
const STEP = /\u001B\[[?]?([0-9;]*)([A-Za-z])|[\s\S]/gu;

/** The lines that a tall terminal shows after a program's output: what was overwritten or erased is gone. */
export function screenAfter(output: string): string {
  const lines: string[][] = [[]];
  let [row, column] = [0, 0];
  const lineAt = (at: number) => (lines[at] ??= []);
  for (const [text, count, command] of output.matchAll(STEP)) {
    const by = Number(count === '' ? 1 : count);
    if (command === 'A') row = Math.max(0, row - by);
    else if (command === 'B') row += by;
    else if (command === 'C') column += by;
    else if (command === 'D') column = Math.max(0, column - by);
    else if (command === 'G') column = by - 1;
    else if (command === 'J' || command === 'K') {
      lineAt(row).length = count === '2' ? 0 : Math.min(lineAt(row).length, column);
      if (command === 'J') lines.length = row + 1;
    } else if (command !== undefined || text === '\u0007') continue;
    else if (text === '\r') column = 0;
    else if (text === '\n') [row, column] = [row + 1, 0];
    else {
      const line = lineAt(row);
      while (line.length < column) line.push(' ');
      line[column++] = text;
      if (WIDE.test(text)) line[column++] = '';
    }
    lineAt(row);
  }
  return Array.from(lines, (line?: string[]) => (line ?? []).join('').trimEnd()).join('\n');
}
