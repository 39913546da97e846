/** A formula in a text, including its delimiters. */
export interface Math {
  from: number;
  to: number;
  /** Length of each delimiter. A bracket on a line of its own is a single delimiter. */
  markChars: number;
}

/** Longer spans are not formulas, so that a growing text is never held back for long. */
const MAX_CHARS = 1_000;
const MAX_INLINE_CHARS = 120;
const MARKS = /\\[^]|\$\$/g;
const CLOSERS: Readonly<Record<string, string>> = { '\\(': '\\)', '\\[': '\\]', $$: '$$' };
/** An inline formula: on one line, with no blank next to its delimiters, so that two prices are not a formula. */
const INLINE = /(?<![\\$])\$(?![\s$])(?:\\.|[^$\\\n]){1,120}?(?<!\s)\$(?![\w$])/g;
const OPEN_INLINE = /(?<![\\$])\$(?![\s$\d])(?:\\.|[^$\\\n]){0,120}$/;
/** Distinguishes a formula from brackets that are escaped in prose. */
const IS_MATH = /\\[A-Za-z\\]|[=^_]|^[ \t]*\n/;
const LONE_BRACKET = /^[ \t>]*(\\[[\]])[ \t]*$/gm;

/** Finds the formulas in one block of text, in order. Linear time. */
export function mathIn(text: string): Math[] {
  const { spans } = marked(text);
  const inline = [...text.matchAll(INLINE)].map(({ index, 0: whole }) => ({
    from: index,
    to: index + whole.length,
    markChars: 1,
  }));
  const lone = [...text.matchAll(LONE_BRACKET)].map(({ index, 0: line, 1: mark = '' }) => {
    const from = index + line.indexOf(mark);
    return { from, to: from + mark.length, markChars: mark.length };
  });
  return withoutOverlaps(spans, [...inline, ...lone]);
}

/** Start of the unclosed formula at the end of a growing block of text; the text's length if there is none. */
export function openMathAt(text: string): number {
  const { spans, open } = marked(text);
  if (open !== undefined && text.length - open <= MAX_CHARS) return open;
  // A single `$` may be the first half of `$$`.
  if (/(?<!\\)\$$/.test(text) && spans.at(-1)?.to !== text.length) return text.length - 1;
  const inline = OPEN_INLINE.exec(text.slice(-MAX_INLINE_CHARS - 1));
  return inline ? Math.max(0, text.length - MAX_INLINE_CHARS - 1) + inline.index : text.length;
}

/** Finds formulas with two-character delimiters, and the start of an unclosed one. */
function marked(text: string): { spans: Math[]; open: number | undefined } {
  const spans: Math[] = [];
  let open: { at: number; closer: string } | undefined;
  for (const { index, 0: mark } of text.matchAll(MARKS)) {
    if (open !== undefined && index - open.at > MAX_CHARS) open = undefined;
    const to = index + mark.length;
    if (mark === open?.closer) {
      if (isFormula(text, open.at, to)) spans.push({ from: open.at, to, markChars: mark.length });
      open = undefined;
    } else if (open === undefined && Object.hasOwn(CLOSERS, mark)) open = { at: index, closer: CLOSERS[mark] ?? '' };
  }
  return { spans, open: open?.at };
}

function isFormula(text: string, from: number, to: number): boolean {
  if (text[from + 1] !== '[') return true;
  return IS_MATH.test(text.slice(from + 2, to - 2)) && !/[([:]/.test(text.charAt(to));
}

/** @param first kept @param further kept if they overlap neither `first` nor one another */
function withoutOverlaps(first: readonly Math[], further: readonly Math[]): Math[] {
  const all = [...first.map((math) => ({ math, rank: 0 })), ...further.map((math) => ({ math, rank: 1 }))];
  all.sort((left, right) => left.math.from - right.math.from || left.rank - right.rank);
  const kept: Math[] = [];
  for (const { math, rank } of all) {
    const before = kept.at(-1);
    if (before === undefined || math.from >= before.to) kept.push(math);
    else if (rank === 0) kept.splice(-1, 1, math);
  }
  return kept;
}
