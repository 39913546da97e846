/** A part of a text that may be something else than text. */
export interface Region {
  kind: 'thought' | 'maybe-thought' | 'call' | 'block' | 'end';
  /** The mark, which is no part of what the region holds. */
  open: string;
  closes: readonly string[];
  maxChars: number;
}

/** A call that is longer is text. */
export const MAX_CALL_CHARS = 65_536;
/** A block of code is a call only if it begins like one, within so many characters. */
const MAX_BLOCK_START_CHARS = 48;
const BLOCK_START =
  /^(?:```\w{0,16})?\s*(?:\[\s*)?\{\s*"(?:name|type|function|tool|tool_name|action|arguments|parameters)"/;
/** The beginning of such a block, cut anywhere. */
const BLOCK_BEGINNING = /^(?:`{1,2}|```\w{0,16}|(?:```\w{0,16}\s)?\s*(?:\[\s*)?(?:\{\s*(?:"\w{0,12})?)?)$/;
const CALL_BLOCK = /^```tool_(?:call|code)/;

/** A block of code or an object at the beginning of a text that may be a call and nothing else. */
export function blockAt(begun: string, isLast: boolean): Region | 'wait' | undefined {
  if (BLOCK_START.test(begun) || CALL_BLOCK.test(begun))
    return { kind: 'block', open: '', closes: [], maxChars: MAX_CALL_CHARS };
  const mayBegin = begun.length < MAX_BLOCK_START_CHARS && BLOCK_BEGINNING.test(begun);
  return mayBegin && !isLast ? 'wait' : undefined;
}

export function ticksAt(text: string, at: number): number {
  let end = at;
  while (text[end] === '`') end += 1;
  return end - at;
}

/** The mark that comes first in a text. */
export function firstOf(text: string, marks: readonly string[]): { at: number; mark: string } | undefined {
  let first: { at: number; mark: string } | undefined;
  for (const mark of marks) {
    const at = text.indexOf(mark);
    if (at >= 0 && (!first || at < first.at)) first = { at, mark };
  }
  return first;
}

/** How many letters at the text's end may become one of the marks. */
export function partAtEnd(text: string, marks: readonly string[]): number {
  let longest = 0;
  for (const mark of marks)
    for (let letters = Math.min(mark.length - 1, text.length); letters > longest; letters -= 1)
      if (text.endsWith(mark.slice(0, letters))) longest = letters;
  return longest;
}
