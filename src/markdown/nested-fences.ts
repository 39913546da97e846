/** Languages of blocks whose text may hold fences of its own. */
const HOLDS_FENCES = /^(?:markdown|md|mdx|mkd|gfm|commonmark|text|txt|plain|plaintext)$/i;
/** What may stand before a fence: quotes, and the marks and indents of lists. */
const FENCE = /^((?:[ \t>]|(?:[-*+]|\d{1,9}[.)])[ \t]){0,80})(`{3,}|~{3,})[ \t]*([^\n]*)$/;
const SHORT_MARK_CHARS = 3;
const WIDE_MARK_CHARS = 6;

interface OpenFence {
  sign: string;
  markChars: number;
  /** Whether its mark was written wider; then fences inside are counted. */
  isWidened: boolean;
  depth: number;
}

/**
 * Widens the mark of a block of markdown or plain text, so that fences inside of it belong to it: models write both with three signs, and by
 * CommonMark the first inner end would end the outer block. A fence inside opens where a language stands behind it, and closes where none does.
 * Doing it twice changes nothing more; costs what the text is long.
 * @param isFinished false while the text grows: its last line may become another one
 */
export function widenFences(text: string, isFinished: boolean): string {
  if (!/(?:`{3}|~{3})[ \t]*[A-Za-z]/.test(text)) return text;
  let open: OpenFence | undefined;
  const lines = text.split('\n');
  const written = lines.map((line, index) => {
    const [whole, lead = '', mark = '', info = ''] = FENCE.exec(line) ?? [];
    if (whole === undefined || (!isFinished && index === lines.length - 1)) return line;
    const sign = mark.slice(0, 1);
    if (open === undefined) {
      if (sign === '`' && info.includes('`')) return line;
      const language = /^[^\s{]*/.exec(info)?.[0] ?? '';
      const isWidened = mark.length === SHORT_MARK_CHARS && HOLDS_FENCES.test(language);
      open = { sign, markChars: mark.length, isWidened, depth: 1 };
      return isWidened ? lead + sign.repeat(WIDE_MARK_CHARS) + line.slice(lead.length + mark.length) : line;
    }
    if (sign !== open.sign) return line;
    if (!open.isWidened) {
      if (info.trim() === '' && mark.length >= open.markChars) open = undefined;
      return line;
    }
    if (info.trim() !== '') {
      if (/^[A-Za-z]/.test(info) && !info.includes('`')) open.depth += 1;
      return line;
    }
    open.depth -= 1;
    if (open.depth > 0) return line;
    open = undefined;
    return lead + sign.repeat(Math.max(WIDE_MARK_CHARS, mark.length)) + line.slice(lead.length + mark.length);
  });
  return written.join('\n');
}
