import { HOUR_MS, MINUTE_MS } from '../../../../shared/clock.ts';

/**
 * WeCom's limits for a bot's messages in one conversation; answers and pushes count together
 * (PLATFORM_FACTS.md wecom-connection).
 */
const MAX_PER_MINUTE = 30;
const MAX_PER_HOUR = 1_000;
/** Share of the minute's limit that is reserved for complete texts when frames count too. */
const RESERVED_FOR_COMPLETE = 12;
/** Margin for clock differences and transit times. */
const ROOM_MS = 1_000;
const MAX_CHATS = 10_000;

interface ChatFrames {
  sentAtMs: number[];
  /** Until then, each frame of a stream counts. */
  framesCountUntilMs: number;
}

/**
 * Counts messages per conversation, so that an excess message waits here instead of being refused by WeCom. It is not known
 * whether WeCom counts each snapshot of a growing answer: after a refusal in a conversation, its snapshots count for an hour.
 */
export class ChatRateLimiter {
  readonly #chats = new Map<string, ChatFrames>();
  readonly #nowMs: () => number;

  /** @param nowMs a monotonic clock */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Records that WeCom refused a frame, perhaps for a rate limit. */
  recordRefusal(chatId: string): void {
    const { sentAtMs = [] } = this.#chats.get(chatId) ?? {};
    this.#keep(chatId, { sentAtMs, framesCountUntilMs: this.#nowMs() + HOUR_MS });
  }

  /**
   * Called right before a frame is sent, and counts it if it may be sent.
   * @param kind `begins`: first frame or single message; `snapshot`: update of a stream; `whole`: its complete text
   * @returns 0 if it may be sent; otherwise the wait. Milliseconds
   */
  tryAcquire(chatId: string, kind: 'begins' | 'snapshot' | 'whole'): number {
    const nowMs = this.#nowMs();
    const { sentAtMs: earlier = [], framesCountUntilMs = Number.NEGATIVE_INFINITY } = this.#chats.get(chatId) ?? {};
    if (kind !== 'begins' && nowMs >= framesCountUntilMs) return 0;
    const sentAtMs = earlier.filter((atMs) => nowMs - atMs < HOUR_MS + ROOM_MS);
    const max = kind === 'snapshot' ? MAX_PER_MINUTE - RESERVED_FOR_COMPLETE : MAX_PER_MINUTE;
    const waitMs = Math.max(
      waitFor(sentAtMs, { nowMs, max, withinMs: MINUTE_MS }),
      waitFor(sentAtMs, { nowMs, max: MAX_PER_HOUR, withinMs: HOUR_MS }),
    );
    if (waitMs === 0) sentAtMs.push(nowMs);
    this.#keep(chatId, { sentAtMs, framesCountUntilMs });
    return waitMs;
  }

  #keep(chatId: string, frames: ChatFrames): void {
    this.#chats.delete(chatId);
    this.#chats.set(chatId, frames);
    if (this.#chats.size <= MAX_CHATS) return;
    const [oldest] = this.#chats.keys();
    if (oldest !== undefined) this.#chats.delete(oldest);
  }
}

interface Window {
  nowMs: number;
  max: number;
  withinMs: number;
}

function waitFor(said: readonly number[], { nowMs, max, withinMs }: Window): number {
  const within = said.filter((atMs) => nowMs - atMs < withinMs + ROOM_MS);
  if (within.length < max) return 0;
  return Math.max(1, (within[within.length - max] ?? nowMs) + withinMs + ROOM_MS - nowMs);
}
