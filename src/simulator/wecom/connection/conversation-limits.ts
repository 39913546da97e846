import { HOUR_MS, MINUTE_MS, type NowMs } from '../../../shared/clock.ts';

/** Maximum messages in a conversation, answers and pushed messages together (PLATFORM_FACTS.md wecom-connection). */
const MAX_PER_MINUTE = 30;
const MAX_PER_HOUR = 1_000;

/** The bot's messages of the last hour, by conversation. */
export class ConversationLimits {
  readonly #nowMs: NowMs;
  readonly #sentAtMs = new Map<string, number[]>();

  constructor(nowMs: NowMs) {
    this.#nowMs = nowMs;
  }

  /** Counts a message. @returns whether it may be shown */
  take(conversationId: string): boolean {
    const atMs = this.#nowMs();
    const lastHour = (this.#sentAtMs.get(conversationId) ?? []).filter((sentMs) => sentMs > atMs - HOUR_MS);
    const lastMinute = lastHour.filter((sentMs) => sentMs > atMs - MINUTE_MS);
    const isTaken = lastMinute.length < MAX_PER_MINUTE && lastHour.length < MAX_PER_HOUR;
    this.#sentAtMs.set(conversationId, isTaken ? [...lastHour, atMs] : lastHour);
    return isTaken;
  }
}
