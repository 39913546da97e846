import type { NowMs } from '../../shared/clock.ts';

/** The platform's limit of unanswered messages per person (PLATFORM_FACTS.md wecom-callbacks). */
const MAX_IN_INTERACTION = 3;

/** Each person's open messages: on their way to the bot, or being answered. */
export class Interactions {
  /** Start time of each, by person and message. */
  readonly #open = new Map<string, Map<string, number>>();
  readonly #nowMs: NowMs;
  readonly #lifeMs: number;

  /** @param lifeMs maximum time that a message counts as open */
  constructor(nowMs: NowMs, lifeMs: number) {
    this.#nowMs = nowMs;
    this.#lifeMs = lifeMs;
  }

  /** Adds a message, unless the person already has three others. */
  tryEnter(personId: string, messageId: string): boolean {
    const open = this.#open.get(personId) ?? new Map<string, number>();
    this.#open.set(personId, open);
    for (const [id, sinceMs] of open) if (this.#nowMs() - sinceMs > this.#lifeMs) open.delete(id);
    if (!open.has(messageId) && open.size >= MAX_IN_INTERACTION) return false;
    open.set(messageId, this.#nowMs());
    return true;
  }

  leave(personId: string, messageId: string): void {
    this.#open.get(personId)?.delete(messageId);
  }

  /** Removes a message of any sender. */
  end(messageId: string): void {
    for (const open of this.#open.values()) open.delete(messageId);
  }
}
