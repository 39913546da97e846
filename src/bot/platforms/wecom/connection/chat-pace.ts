import { HOUR_MS, MINUTE_MS } from '../../../../shared/clock.ts';

/** WeCom's limit for what a bot says in one conversation, answers and pushes together (PLATFORM_FACTS.md wecom-connection). */
const MOST_A_MINUTE = 30;
const MOST_AN_HOUR = 1_000;
/** Where frames count too: so many of a minute's are kept for whole answers. */
const KEPT_FOR_WHOLE = 12;
/** A clock of theirs and one of ours, and what is on its way. */
const ROOM_MS = 1_000;
const MOST_CHATS = 10_000;

/**
 * Counts what was said in each conversation, so that what is too much waits here and is not refused there. Whether each snapshot of
 * a growing answer counts is not certain: they do from the first refusal on, for an hour.
 */
export class ChatPace {
  readonly #saidMs = new Map<string, number[]>();
  readonly #nowMs: () => number;
  #framesCountUntilMs = Number.NEGATIVE_INFINITY;

  /** @param nowMs a monotonic clock */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** WeCom refused a frame for its number. */
  refused(): void {
    this.#framesCountUntilMs = this.#nowMs() + HOUR_MS;
  }

  /**
   * Asked right before a frame leaves, and counts it if it may.
   * @param kind `begins` a message or is one, is a `snapshot` of one, or is its `whole` text
   * @returns 0 when it may leave; else how long it has to wait. Milliseconds
   */
  mayLeave(chatId: string, kind: 'begins' | 'snapshot' | 'whole'): number {
    const nowMs = this.#nowMs();
    const framesCount = nowMs < this.#framesCountUntilMs;
    if (kind !== 'begins' && !framesCount) return 0;
    const said = (this.#saidMs.get(chatId) ?? []).filter((atMs) => nowMs - atMs < HOUR_MS + ROOM_MS);
    const most = kind === 'snapshot' ? MOST_A_MINUTE - KEPT_FOR_WHOLE : MOST_A_MINUTE;
    const waitMs = Math.max(
      waitFor(said, { nowMs, most, withinMs: MINUTE_MS }),
      waitFor(said, { nowMs, most: MOST_AN_HOUR, withinMs: HOUR_MS }),
    );
    if (waitMs === 0) said.push(nowMs);
    this.#keep(chatId, said);
    return waitMs;
  }

  #keep(chatId: string, said: number[]): void {
    this.#saidMs.delete(chatId);
    this.#saidMs.set(chatId, said);
    if (this.#saidMs.size <= MOST_CHATS) return;
    const [oldest] = this.#saidMs.keys();
    if (oldest !== undefined) this.#saidMs.delete(oldest);
  }
}

interface Window {
  nowMs: number;
  most: number;
  withinMs: number;
}

function waitFor(said: readonly number[], { nowMs, most, withinMs }: Window): number {
  const within = said.filter((atMs) => nowMs - atMs < withinMs + ROOM_MS);
  if (within.length < most) return 0;
  return Math.max(1, (within[within.length - most] ?? nowMs) + withinMs + ROOM_MS - nowMs);
}
