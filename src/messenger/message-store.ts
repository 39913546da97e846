import { DAY_MS, SECOND_MS } from '../base/clock.ts';
import type { KeyRing } from '../base/key-ring.ts';
import { SealError } from '../base/key-ring.ts';
import type { RedisClient } from '../base/redis.ts';
import { MessengerError } from './messenger-error.ts';
import type { StoredMessage } from './stored-message.ts';

const MAX_MESSAGES = 500;
const KEEP_SEC = (30 * DAY_MS) / SECOND_MS;
const PURPOSE = 'messenger-message';

export interface ReadPosition {
  /** Messages after the person's read mark. */
  unread: number;
  last: StoredMessage | undefined;
}

/**
 * Conversations in Redis, sealed, so that they survive a restart: the newest 500 messages of each, for 30 days.
 * Order is by arrival: a growing answer keeps the place at which it appeared.
 */
export class MessageStore {
  readonly #redis: RedisClient;
  readonly #keyRing: KeyRing;
  #lastScore = 0;

  constructor(redis: RedisClient, keyRing: KeyRing) {
    this.#redis = redis;
    this.#keyRing = keyRing;
  }

  /** Adds a message, or replaces it by id. */
  async save(message: StoredMessage): Promise<void> {
    const { conversationId, id } = message;
    // Two messages of one millisecond keep their order by a fraction; after a restart the clock is ahead of the old scores.
    this.#lastScore = Math.max(message.atMs, this.#lastScore + 0.001);
    await this.#redis.hset(bodies(conversationId), id, this.#keyRing.seal(PURPOSE, id, JSON.stringify(message)));
    const isNew = await this.#redis.zadd(order(conversationId), 'NX', String(this.#lastScore), id);
    await this.#redis.set(placeOf(id), conversationId, 'EX', KEEP_SEC);
    if (isNew) await this.#trim(conversationId);
  }

  /** @throws MessengerError `not_found` */
  async get(id: string): Promise<StoredMessage> {
    const conversationId = await this.#redis.get(placeOf(id));
    const sealed = conversationId === null ? null : await this.#redis.hget(bodies(conversationId), id);
    const message = sealed === null ? undefined : this.#open(id, sealed);
    if (!message) throw new MessengerError('not_found', 'No such message');
    return message;
  }

  /** The newest messages, oldest first. */
  async list(conversationId: string, count: number): Promise<StoredMessage[]> {
    const ids = await this.#redis.zrange(order(conversationId), String(-count), '-1');
    if (ids.length === 0) return [];
    const sealed = await this.#redis.hmget(bodies(conversationId), ...ids);
    return ids.flatMap((id, index) => {
      const body = sealed[index];
      const message = body === null || body === undefined ? undefined : this.#open(id, body);
      return message ? [message] : [];
    });
  }

  /** Puts the person's read mark at the newest message. */
  async markRead(personId: string, conversationId: string): Promise<void> {
    const [newest] = await this.#redis.zrange(order(conversationId), '-1', '-1');
    const score = newest === undefined ? null : await this.#redis.zscore(order(conversationId), newest);
    if (score !== null) await this.#redis.hset(readMarks(personId), conversationId, score);
  }

  async position(personId: string, conversationId: string): Promise<ReadPosition> {
    const mark = await this.#redis.hget(readMarks(personId), conversationId);
    const [unread, [last]] = await Promise.all([
      this.#redis.zcount(order(conversationId), mark === null ? '-inf' : `(${mark}`, '+inf'),
      this.list(conversationId, 1),
    ]);
    return { unread, last };
  }

  /** Notes a message whose delivery or answer is under way, for the next start to take up. */
  async noteOpen(messageId: string): Promise<void> {
    await this.#redis.sadd(OPEN, messageId);
  }

  async noteSettled(messageId: string): Promise<void> {
    await this.#redis.srem(OPEN, messageId);
  }

  /** Messages under way when the last run ended. */
  async openMessages(): Promise<StoredMessage[]> {
    const ids = await this.#redis.smembers(OPEN);
    const found = await Promise.all(ids.map((id) => this.get(id).catch(() => this.noteSettled(id))));
    return found.filter((message) => message !== undefined);
  }

  async #trim(conversationId: string): Promise<void> {
    const outdated = await this.#redis.zrange(order(conversationId), '0', String(-MAX_MESSAGES - 1));
    if (outdated.length > 0) {
      await this.#redis.hdel(bodies(conversationId), ...outdated);
      await this.#redis.zrem(order(conversationId), ...outdated);
      await Promise.all(outdated.map((id) => this.#redis.del(placeOf(id))));
    }
    await this.#redis.expire(bodies(conversationId), KEEP_SEC);
    await this.#redis.expire(order(conversationId), KEEP_SEC);
  }

  #open(id: string, sealed: string): StoredMessage | undefined {
    try {
      return JSON.parse(this.#keyRing.open(PURPOSE, id, sealed)) as StoredMessage;
    } catch (error) {
      // Sealed under the key of an earlier bot: it is gone for good, as after a change of the platform's keys.
      if (error instanceof SealError) return undefined;
      throw error;
    }
  }
}

const OPEN = 'messenger:open';
const bodies = (conversationId: string) => `messenger:messages:${conversationId}`;
const order = (conversationId: string) => `messenger:order:${conversationId}`;
const placeOf = (messageId: string) => `messenger:place:${messageId}`;
const readMarks = (personId: string) => `messenger:read:${personId}`;
