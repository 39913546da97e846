/** Languages of blocks that may contain fences. */
const HOLDS_FENCES = /^(?:markdown|md|mdx|mkd|gfm|commonmark|text|txt|plain|plaintext)$/i;
/** A fence with its prefix: quotes, list markers and indents. */
const FENCE = /^((?:[ \t>]|(?:[-*+]|\d{1,9}[.)])[ \t]){0,80})(`{3,}(?!`)|~{3,}(?!~))([^\n]*)$/;
const SHORT_MARK_CHARS = 3;
const WIDE_MARK_CHARS = 6;

interface OpenFence {
  line: number;
  sign: string;
  markChars: number;
  /** Whether the block may contain fences; if so, they are counted. */
  mayHold: boolean;
  isWide: boolean;
  depth: number;
}

export interface WidenOptions {
  /** False while the text grows: its last line is incomplete. */
  isFinished: boolean;
  /**
   * Widens every such block, because text already shown is never withdrawn. Otherwise only blocks that contain fences are
   * widened.
   */
  isAlways: boolean;
}

/**
 * Widens the fence of a markdown or plain-text block so that fences inside belong to it. Models write both with three
 * characters, and in CommonMark the first inner closing fence would end the outer block. A fence inside opens if a language
 * follows it, and closes otherwise. Idempotent; linear time.
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
