import type { RedisClient } from '../../shared/redis/redis.ts';
import type { MessengerContext } from '../protocol.ts';
import type { EventClient } from './event-client.ts';
import type { EventPayloads } from './event-payload.ts';
import type { TsClock } from './workspace.ts';

export interface EntryParts {
  client: EventClient;
  payloads: EventPayloads;
  clock: TsClock;
  redis: RedisClient;
}

/**
 * People who open their private chat. The first time, a thread of Slack's assistant view begins, and the bot is notified of
 * that too.
 */
export class Entries {
  readonly #side: MessengerContext;
  readonly #parts: EntryParts;
  /** People who opened the chat while the bot was unreachable; the bot is notified when it is back. */
  readonly #waiting = new Set<string>();

  constructor(side: MessengerContext, parts: EntryParts) {
    this.#side = side;
    this.#parts = parts;
  }

  /** @throws MessengerError `not_found` */
  async enter(personId: string): Promise<void> {
    const { directory, bot } = this.#side;
    const { client, payloads, clock, redis } = this.#parts;
    directory.person(personId);
    if (!bot.isReachable()) return void this.#waiting.add(personId);
    await client.deliver(payloads.homeOpened(personId));
    const isFirst = await redis.set(`messenger:slack:entered:${personId}`, '1', 'NX');
    if (isFirst !== null) await client.deliver(payloads.assistantStarted(personId, clock.next()));
  }

  /** Notifies the bot of people who opened the chat while it was unreachable. */
  async onBotReconnected(): Promise<void> {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    await Promise.all(waiting.map((personId) => this.enter(personId)));
  }
}
