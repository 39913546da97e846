import { estimateTokens } from './estimate-tokens.ts';

/** A message of a thread as it is written into a prompt. */
export interface ThreadLine {
  kind: 'message';
  /** Its date in the institution's time zone. */
  day: string;
  /** Name of the writer, or a mark in square brackets, which no name contains. */
  writer: string;
  text: string;
}

/**
 * A thread before a question: its messages, places where messages are missing (`about`: roughly how many), and messages that
 * the prompt contains as turns of the conversation (`known`).
 */
export type ThreadEntry = ThreadLine | { kind: 'gap'; about?: number } | { kind: 'known' };

/** A thread that fits a prompt. */
export interface FittedThread {
  text: string;
  /** Messages that the text contains. */
  shownCount: number;
  /** Messages that are missing; undefined if their number is not known. */
  missingCount: number | undefined;
}

/** Longer messages are cut, so that a pasted log does not displace the discussion about it. */
const MAX_MESSAGE_CHARS = 6_000;
/** Share of the room for the first message, and for the newest one. */
const FIRST_SHARE = 0.25;
const NEWEST_SHARE = 0.5;
/** Tokens of a line with a date or a gap. */
const MARK_TOKENS = 12;
const GOES_ON = '[The message goes on; the rest is not shown.]';
const KNOWN = '[Messages to you and your answers, as given above.]';

/**
 * Fits a thread into a number of tokens: the first message, which names the subject, and the newest ones. The messages in
 * between are left out, and a line says how many.
 */
export function fitThread(entries: readonly ThreadEntry[], roomTokens: number, tokenFactor: number): FittedThread {
  const tokensOf = (text: string) => estimateTokens(text, tokenFactor) + 1;
  const begin = entries.findIndex(({ kind }) => kind === 'message');
  const first = entries[begin];
  if (first?.kind !== 'message') return { text: '', shownCount: 0, missingCount: 0 };
  const cutFirst = cutLine(first, roomTokens * FIRST_SHARE, tokensOf);
  let leftTokens = roomTokens - tokensOf(written(cutFirst)) - 2 * MARK_TOKENS;
  const kept: ThreadEntry[] = [];
  let at = entries.length - 1;
  for (; at > begin; at -= 1) {
    const entry = entries[at];
    if (entry === undefined) break;
    const isNewest = kept.every(({ kind }) => kind !== 'message');
    const line =
      entry.kind === 'message' ? cutLine(entry, isNewest ? leftTokens * NEWEST_SHARE : undefined, tokensOf) : entry;
    const next = entries[at + 1];
    const isNewDay = line.kind === 'message' && !(next?.kind === 'message' && next.day === line.day);
    leftTokens -= line.kind === 'message' ? tokensOf(written(line)) + (isNewDay ? MARK_TOKENS : 0) : MARK_TOKENS;
    if (leftTokens < 0) break;
    kept.unshift(line);
  }
  const omitted = entries.slice(begin + 1, at + 1);
  const all = [...entries.slice(0, begin), cutFirst, ...(omitted.length === 0 ? [] : [gapOf(omitted)]), ...kept];
  const gaps = all.filter(({ kind }) => kind === 'gap') as Gap[];
  return {
    text: lines(all).join('\n'),
    shownCount: all.filter(({ kind }) => kind === 'message').length,
    missingCount: gaps.some(({ about }) => about === undefined)
      ? undefined
      : gaps.reduce((sum, { about = 0 }) => sum + about, 0),
  };
}

type Gap = Extract<ThreadEntry, { kind: 'gap' }> & { isExact?: boolean };

/** One gap for consecutive entries that are left out. Messages that the prompt has as turns are not missing. */
function gapOf(omitted: readonly ThreadEntry[]): Gap {
  let about: number | undefined = 0;
  for (const one of omitted) {
    if (one.kind === 'known') continue;
    const count: number | undefined = one.kind === 'message' ? 1 : one.about;
    about = about === undefined || count === undefined ? undefined : about + count;
  }
  return { kind: 'gap', about, isExact: omitted.every(({ kind }) => kind !== 'gap') };
}

function cutLine(line: ThreadLine, roomTokens: number | undefined, tokensOf: (text: string) => number): ThreadLine {
  const tokens = roomTokens === undefined ? 0 : tokensOf(written(line));
  const share = roomTokens === undefined || tokens <= roomTokens ? 1 : Math.max(0, roomTokens) / tokens;
  const chars = Math.min(MAX_MESSAGE_CHARS, Math.floor(line.text.length * share));
  return line.text.length <= chars ? line : { ...line, text: `${line.text.slice(0, chars)}\n${GOES_ON}` };
}

/** Further lines of a message are indented, so that no text can pass for a message of somebody else. */
function written({ writer, text }: ThreadLine): string {
  return `${writer}: ${text.replaceAll('\n', '\n  ')}`;
}

function lines(entries: readonly ThreadEntry[]): string[] {
  let day: string | undefined;
  return entries.flatMap((entry, index) => {
    if (entry.kind === 'known') return entries[index - 1]?.kind === 'known' ? [] : [KNOWN];
    if (entry.kind === 'gap') return entry.about === 0 ? [] : [gapLine(entry)];
    const isNewDay = entry.day !== day;
    day = entry.day;
    return [...(isNewDay ? [`[${entry.day}]`] : []), written(entry)];
  });
}

function gapLine({ about, isExact = false }: Gap): string {
  if (about === undefined) return '[Messages are left out here.]';
  if (about === 1) return '[One message is left out here.]';
  return `[${isExact ? '' : 'About '}${about} messages are left out here.]`;
}
