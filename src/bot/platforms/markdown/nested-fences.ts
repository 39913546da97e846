/** Languages of blocks whose text may hold fences of its own. */
const HOLDS_FENCES = /^(?:markdown|md|mdx|mkd|gfm|commonmark|text|txt|plain|plaintext)$/i;
/** What may stand before a fence: quotes, and the marks and indents of lists. */
const FENCE = /^((?:[ \t>]|(?:[-*+]|\d{1,9}[.)])[ \t]){0,80})(`{3,}(?!`)|~{3,}(?!~))([^\n]*)$/;
const SHORT_MARK_CHARS = 3;
const WIDE_MARK_CHARS = 6;

interface OpenFence {
  line: number;
  sign: string;
  markChars: number;
  /** Whether its text may hold fences; then those are counted. */
  mayHold: boolean;
  isWide: boolean;
  depth: number;
}

export interface WidenOptions {
  /** False while the text grows: its last line may become another one. */
  isFinished: boolean;
  /** Whether every such block is widened, since what was shown of it is never taken back; else only one that holds fences. */
  isAlways: boolean;
}

/**
 * Widens the mark of a block of markdown or plain text, so that fences inside of it belong to it: models write both with three signs, and by
 * CommonMark the first inner end would end the outer block. A fence inside opens where a language stands behind it, and closes where none does.
 * Doing it twice changes nothing more; costs what the text is long.
 */
export function widenFences(text: string, { isFinished, isAlways }: WidenOptions): string {
  if (!/(?:`{3}|~{3})[ \t]*[A-Za-z]/.test(text)) return text;
  const lines = text.split('\n');
  const widen = (line: number): void => {
    lines[line] = (lines[line] ?? '').replace(/`{3,}|~{3,}/, (mark) => mark.slice(0, 1).repeat(WIDE_MARK_CHARS));
  };
  let open: OpenFence | undefined;
  const last = isFinished ? lines.length : lines.length - 1;
  for (let line = 0; line < last; line += 1) {
    const [whole, , mark = '', behind = ''] = FENCE.exec(lines[line] ?? '') ?? [];
    const info = behind.trimStart();
    if (whole === undefined) continue;
    const sign = mark.slice(0, 1);
    const isEnd = info.trim() === '';
    if (open === undefined) {
      if (sign === '`' && info.includes('`')) continue;
      const mayHold = mark.length === SHORT_MARK_CHARS && HOLDS_FENCES.test(/^[^\s{]*/.exec(info)?.[0] ?? '');
      open = { line, sign, markChars: mark.length, mayHold, isWide: mayHold && isAlways, depth: 1 };
      if (open.isWide) widen(line);
    } else if (sign !== open.sign || (!isEnd && !open.mayHold)) {
      continue;
    } else if (!isEnd) {
      if (!/^[A-Za-z][^`]*$/.test(info)) continue;
      if (!open.isWide) widen(open.line);
      open.isWide = true;
      open.depth += 1;
    } else if (open.mayHold && open.depth > 1) {
      open.depth -= 1;
    } else if (mark.length >= open.markChars) {
      if (open.isWide) widen(line);
      open = undefined;
    }
  }
  return lines.join('\n');
}
