/** A part of a text that may not be text. */
export interface Region {
  kind: 'thought' | 'maybe-thought' | 'call' | 'block' | 'end';
  /** The opening mark, which is not part of the content. */
  open: string;
  closes: readonly string[];
  maxChars: number;
}

/** Maximum characters of a call. A longer one is text. */
export const MAX_CALL_CHARS = 65_536;
/** A code block is a call only if it begins like one within this number of characters. */
const MAX_BLOCK_START_CHARS = 48;
const BLOCK_START =
  /^(?:```\w{0,16})?\s*(?:\[\s*)?\{\s*"(?:name|type|function|tool|tool_name|tool_calls|action|arguments|parameters)"/;
/** Python: a list of calls. */
const LIST_START = /^\[\s*[A-Za-z_]\w{0,40}\(/;
/** A truncated beginning of such a block. */
const BLOCK_BEGINNING =
  /^(?:`{1,2}|```\w{0,16}|(?:```\w{0,16}\s)?\s*(?:\[\s*)?(?:\{\s*(?:"\w{0,12})?)?|\[\s*[A-Za-z_]\w{0,40})$/;
const CALL_BLOCK = /^```tool_(?:call|code)/;

/** A code block or object at the beginning of a text that may consist only of a call. */
export function blockAt(begun: string, isLast: boolean): Region | 'wait' | undefined {
  if (BLOCK_START.test(begun) || LIST_START.test(begun) || CALL_BLOCK.test(begun))
    return { kind: 'block', open: '', closes: [], maxChars: MAX_CALL_CHARS };
  const mayBegin = begun.length < MAX_BLOCK_START_CHARS && BLOCK_BEGINNING.test(begun);
  return mayBegin && !isLast ? 'wait' : undefined;
}

export function ticksAt(text: string, at: number): number {
  let end = at;
  while (text[end] === '`') end += 1;
  return end - at;
}

/** The first mark in a text. */
export function firstOf(text: string, marks: readonly string[]): { at: number; mark: string } | undefined {
  let first: { at: number; mark: string } | undefined;
  for (const mark of marks) {
    const at = text.indexOf(mark);
    if (at >= 0 && (!first || at < first.at)) first = { at, mark };
  }
  return first;
}

/** Number of characters at the end of the text that may become one of the marks. */
export function partAtEnd(text: string, marks: readonly string[]): number {
  let longest = 0;
  for (const mark of marks)
    for (let letters = Math.min(mark.length - 1, text.length); letters > longest; letters -= 1)
      if (text.endsWith(mark.slice(0, letters))) longest = letters;
  return longest;
}
