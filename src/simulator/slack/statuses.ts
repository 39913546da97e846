import type { Conversation } from '../directory.ts';
import type { EventHub } from '../event-hub.ts';

/**
 * Status lines of the bot: one per thread, removed when the bot posts there, sends an empty status, or after two minutes.
 */
export class Statuses {
  readonly #hub: EventHub;
  readonly #lifeMs: number;
  readonly #timers = new Map<string, NodeJS.Timeout>();

  constructor(hub: EventHub, lifeMs: number) {
    this.#hub = hub;
    this.#lifeMs = lifeMs;
  }

  set(conversation: Conversation, threadTs: string, text: string): void {
    this.clear(conversation, threadTs);
    if (text === '') return;
    this.#tell(conversation, text);
    const timer = setTimeout(() => this.clear(conversation, threadTs), this.#lifeMs);
    this.#timers.set(keyOf(conversation, threadTs), timer);
  }

  clear(conversation: Conversation, threadTs: string): void {
    const key = keyOf(conversation, threadTs);
    if (!this.#timers.has(key)) return;
    clearTimeout(this.#timers.get(key));
    this.#timers.delete(key);
    this.#tell(conversation, '');
  }

  end(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
  }

  #tell({ id, members }: Conversation, text: string): void {
    for (const member of members) this.#hub.publish(member.id, { name: 'status', data: { conversationId: id, text } });
  }
}

function keyOf({ id }: Conversation, threadTs: string): string {
  return `${id} ${threadTs}`;
}
