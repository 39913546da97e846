import { HOUR_MS, MINUTE_MS } from '../../../../shared/clock.ts';

/**
 * WeCom's limits for a bot's messages in one conversation; answers and pushes count together
 * (PLATFORM_FACTS.md wecom-connection).
 */
const MAX_PER_MINUTE = 30;
const MAX_PER_HOUR = 1_000;
/** Share of the minute's limit that is reserved for complete texts when frames count too. */
const KEPT_FOR_WHOLE = 12;
/** Margin for clock differences and transit times. */
const ROOM_MS = 1_000;
const MAX_CHATS = 10_000;

/**
 * Counts messages per conversation, so that an excess message waits here instead of being refused by WeCom. It is not known
 * whether WeCom counts each snapshot of a growing answer: snapshots count for an hour after a refusal.
 */
export class ChatPace {
  readonly #saidMs = new Map<string, number[]>();
  readonly #nowMs: () => number;
  #framesCountUntilMs = Number.NEGATIVE_INFINITY;

  /** @param nowMs a monotonic clock */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Records that WeCom refused a frame for a rate limit. */
  refused(): void {
    this.#framesCountUntilMs = this.#nowMs() + HOUR_MS;
  }

  /**
   * Called right before a frame is sent, and counts it if it may be sent.
   * @param kind `begins`: first frame or single message; `snapshot`: update of a stream; `whole`: its complete text
   * @returns 0 if it may be sent; otherwise the wait. Milliseconds
   */
  mayLeave(chatId: string, kind: 'begins' | 'snapshot' | 'whole'): number {
    const nowMs = this.#nowMs();
    const framesCount = nowMs < this.#framesCountUntilMs;
    if (kind !== 'begins' && !framesCount) return 0;
    const said = (this.#saidMs.get(chatId) ?? []).filter((atMs) => nowMs - atMs < HOUR_MS + ROOM_MS);
    const most = kind === 'snapshot' ? MAX_PER_MINUTE - KEPT_FOR_WHOLE : MAX_PER_MINUTE;
    const waitMs = Math.max(
      waitFor(said, { nowMs, most, withinMs: MINUTE_MS }),
      waitFor(said, { nowMs, most: MAX_PER_HOUR, withinMs: HOUR_MS }),
    );
    if (waitMs === 0) said.push(nowMs);
    this.#keep(chatId, said);
    return waitMs;
  }

  #keep(chatId: string, said: number[]): void {
    this.#saidMs.delete(chatId);
    this.#saidMs.set(chatId, said);
    if (this.#saidMs.size <= MAX_CHATS) return;
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
