/** A part of a text that may not be text. */
export interface Region {
  kind: 'thought' | 'maybe-thought' | 'call' | 'block' | 'end';
  /** The opening mark, which is not part of the content. */
  open: string;
  closes: readonly string[];
  maxChars: number;
  /** The opening mark is also an ordinary word. */
  isWord?: true;
  /** Finds the end of a block. */
  end?: BlockEnd;
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
const BLOCK_BEGINNING = /^(?:`{1,2}|(?:```\w{0,16})?\s*(?:\[\s*)?(?:\{\s*(?:"\w{0,12})?)?|\[\s*[A-Za-z_]\w{0,40})$/;
const CALL_BLOCK = /^```tool_(?:call|code)/;
/** Tags of calls in a block. An answer that shows such tags must not wait long for its end. */
const TAG_BLOCK = /^```(?:xml|tool_\w{1,12})?\s*<(?:tool_?calls?>|function_?calls?>|function=|invoke name=)/;
const TAG_BEGINNING = /^```(?:xml|tool_\w{1,12})?\s*<[a-z_= ]{0,14}$/;
const MAX_TAG_BLOCK_CHARS = 2_000;

/** A code block or object at the beginning of a text that may consist only of a call. */
export function blockAt(begun: string, isLast: boolean): Region | 'wait' | undefined {
  const isTags = TAG_BLOCK.test(begun);
  if (isTags || BLOCK_START.test(begun) || LIST_START.test(begun) || CALL_BLOCK.test(begun)) {
    const maxChars = isTags ? MAX_TAG_BLOCK_CHARS : MAX_CALL_CHARS;
    return { kind: 'block', open: '', closes: [], maxChars, end: new BlockEnd() };
  }
  const isShort = begun.length < MAX_BLOCK_START_CHARS;
  const mayBegin = isShort && (BLOCK_BEGINNING.test(begun) || TAG_BEGINNING.test(begun));
  return mayBegin && !isLast ? 'wait' : undefined;
}

const FENCE = '```';

/** Finds the end of adjacent blocks that arrive in parts. Processes each character once. */
export class BlockEnd {
  /** Number of characters up to the end of the last complete block. */
  length = 0;
  #seen = 0;
  /** Open brackets. */
  #depth = 0;
  #quote = '';
  #before = '';
  #isInFence = false;
  #isFirstLine = false;
  /** The first characters of the line, without blanks. */
  #lineStart = '';

  /** @returns whether text follows that is not a block */
  isFollowedIn(piece: string): boolean {
    for (let at = 0; at < piece.length; at += 1) {
      const sign = piece.charAt(at);
      this.#seen += 1;
      if (this.#isInFence) {
        if (this.#fenceTakes(sign)) return true;
      } else if (this.#depth > 0) this.#jsonTakes(sign);
      else if (this.#isOtherText(sign)) return true;
    }
    return false;
  }

  /** Between blocks. */
  #isOtherText(sign: string): boolean {
    if (sign === '`') {
      [this.#isInFence, this.#isFirstLine, this.#lineStart] = [true, true, sign];
      return false;
    }
    if (sign === '{' || sign === '[') this.#depth = 1;
    return this.#depth === 0 && !/[\s,;]/.test(sign);
  }

  /** @returns whether this is inline code instead */
  #fenceTakes(sign: string): boolean {
    const isStartRead = sign === '\n' || this.#lineStart.length === FENCE.length;
    if (this.#isFirstLine && isStartRead && this.#lineStart !== FENCE) return true;
    if (sign === '\n') [this.#isFirstLine, this.#lineStart] = [false, ''];
    else if (!isStartRead && sign !== ' ') this.#lineStart += sign;
    if (!this.#isFirstLine && this.#lineStart === FENCE) {
      this.#isInFence = false;
      this.length = this.#seen;
    }
    return false;
  }

  /** JSON, or a list of Python, whose texts may be in single quotes. */
  #jsonTakes(sign: string): void {
    const before = this.#before;
    this.#before = before === '\\' && sign === '\\' ? '' : sign;
    if (this.#quote !== '') {
      if (sign === this.#quote && before !== '\\') this.#quote = '';
    } else if (sign === '"' || (sign === "'" && !/\w/.test(before))) this.#quote = sign;
    else if (sign === '{' || sign === '[') this.#depth += 1;
    else if ((sign === '}' || sign === ']') && (this.#depth -= 1) === 0) this.length = this.#seen;
  }
}

/** A name that is cut, in the first value of an object or behind an opening mark. */
const TORN_NAME = /^(?:[^:]{0,48}:)?["'\s]{0,4}([\w-]{2,128})$/;

/** Tests whether a text contains the name of an offered tool where a call has it, possibly cut. */
export function createNameTest(offered: ReadonlySet<string>): (text: string) => boolean {
  const names = [...offered].filter((name) => name !== '');
  // Compiled on first use, because most answers contain nothing that looks like a call.
  let named: RegExp | undefined;
  const compile = () => {
    const anyName = names.map((name) => name.replace(/[^\w-]/g, '\\$&')).join('|');
    return new RegExp(`(?<![\\w-])(?:${anyName})(?:["'](?!\\s*:)|[()>{\\n]|$)`);
  };
  return (text) => {
    named ??= compile();
    const torn = TORN_NAME.exec(text)?.[1];
    return (
      names.length > 0 && (named.test(text) || (torn !== undefined && names.some((name) => name.startsWith(torn))))
    );
  };
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
