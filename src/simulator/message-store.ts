import { DAY_MS, SECOND_MS } from '../shared/clock.ts';
import { hashParts } from '../shared/crypto/ids.ts';
import type { KeyRing } from '../shared/crypto/key-ring.ts';
import type { RedisClient } from '../shared/redis/redis.ts';
import { recordWith, tryOpenJson } from '../shared/crypto/decrypt-record.ts';
import type { PromptsView } from './api.ts';
import { MessengerError } from './messenger-error.ts';
import { isSeenBy, type StoredMessage } from './stored-message.ts';

const MAX_MESSAGES = 500;
/** Messages to search for the newest visible one, if the very newest is visible only to another person. */
const SEARCHED_MESSAGES = 50;
const RETENTION_SEC = (30 * DAY_MS) / SECOND_MS;
const PURPOSE = 'messenger-message';
const PROMPTS_PURPOSE = 'messenger-prompts';

export interface ReadPosition {
  /** Messages after the person's read mark. */
  unread: number;
  last: StoredMessage | undefined;
}

/**
 * Conversations in Redis, sealed, so that they survive a restart: the newest 500 messages of each, for 30 days. In order of
 * arrival: a growing answer keeps its place.
 */
export class MessageStore {
  readonly #redis: RedisClient;
  readonly #keyRing: KeyRing;
  readonly #keys: ReturnType<typeof keysOf>;
  #lastScore = 0;

  /** @param name of the platform; each has its own conversations */
  constructor(redis: RedisClient, keyRing: KeyRing, name: string) {
    this.#redis = redis;
    this.#keyRing = keyRing;
    this.#keys = keysOf(name);
  }

  /** Adds a message, or replaces it by id. */
  async save(message: StoredMessage): Promise<void> {
    const { conversationId, id } = message;
    // Messages within the same millisecond are ordered by a fraction; after a restart the clock is ahead of the old scores.
    this.#lastScore = Math.max(message.atMs, this.#lastScore + 0.001);
    // Written before the message: if only this write succeeds, the send counts as unknown and can be retried.
    if (message.clientId !== undefined)
      await this.#redis.set(this.#keys.sending(message.sender, message.clientId), id, 'EX', RETENTION_SEC);
    await this.#redis.hset(
      this.#keys.bodies(conversationId),
      id,
      this.#keyRing.seal(PURPOSE, id, JSON.stringify(message)),
    );
    const isNew = await this.#redis.zadd(this.#keys.order(conversationId), 'NX', String(this.#lastScore), id);
    await this.#redis.set(this.#keys.placeOf(id), conversationId, 'EX', RETENTION_SEC);
    if (isNew) await this.#trim(conversationId);
  }

  /** @throws MessengerError `not_found` */
  async get(id: string): Promise<StoredMessage> {
    const conversationId = await this.#redis.get(this.#keys.placeOf(id));
    const sealed = conversationId === null ? null : await this.#redis.hget(this.#keys.bodies(conversationId), id);
    const message = sealed === null ? undefined : this.#open(id, sealed);
    if (!message) throw new MessengerError('not_found', 'No such message');
    return message;
  }

  /** Deletes a message. */
  async remove(id: string): Promise<void> {
    const conversationId = await this.#redis.get(this.#keys.placeOf(id));
    if (conversationId === null) return;
    await this.#redis.hdel(this.#keys.bodies(conversationId), id);
    await this.#redis.zrem(this.#keys.order(conversationId), id);
    await this.#redis.del(this.#keys.placeOf(id));
  }

  /** Replaces the bot's suggested questions in a conversation; an empty list removes them. */
  async setPrompts(conversationId: string, prompts: PromptsView | undefined): Promise<void> {
    const key = this.#keys.prompts(conversationId);
    if (prompts === undefined) await this.#redis.del(key);
    else
      await this.#redis.set(
        key,
        this.#keyRing.seal(PROMPTS_PURPOSE, conversationId, JSON.stringify(prompts)),
        'EX',
        RETENTION_SEC,
      );
  }

  async prompts(conversationId: string): Promise<PromptsView | undefined> {
    const sealed = await this.#redis.get(this.#keys.prompts(conversationId));
    if (sealed === null) return undefined;
    const read = recordWith<PromptsView>();
    const opened = tryOpenJson(() => this.#keyRing.open(PROMPTS_PURPOSE, conversationId, sealed), read);
    return opened.kind === 'opened' ? opened.value : undefined;
  }

  /** The message that a person's page sent with this client id; undefined if there is none. */
  async findByClientId(personId: string, clientId: string): Promise<StoredMessage | undefined> {
    const id = await this.#redis.get(this.#keys.sending(personId, clientId));
    return id === null ? undefined : this.get(id).catch(() => undefined);
  }

  /** The newest messages (or those before a given one), oldest first. Empty if the given message does not exist. */
  async list(conversationId: string, count: number, beforeId?: string): Promise<StoredMessage[]> {
    const order = this.#keys.order(conversationId);
    const end = beforeId === undefined ? 0 : await this.#redis.zrank(order, beforeId);
    if (end === null || (beforeId !== undefined && end === 0)) return [];
    // Without one, ranks are counted from the end with negative numbers.
    const first = beforeId === undefined ? -count : Math.max(0, end - count);
    const ids = await this.#redis.zrange(order, String(first), String(end - 1));
    if (ids.length === 0) return [];
    const sealed = await this.#redis.hmget(this.#keys.bodies(conversationId), ...ids);
    return ids.flatMap((id, index) => {
      const body = sealed[index];
      const message = body === null || body === undefined ? undefined : this.#open(id, body);
      return message ? [message] : [];
    });
  }

  /** Moves the person's read mark to the newest message. */
  async markRead(personId: string, conversationId: string): Promise<void> {
    const [newest] = await this.#redis.zrange(this.#keys.order(conversationId), '-1', '-1');
    const score = newest === undefined ? null : await this.#redis.zscore(this.#keys.order(conversationId), newest);
    if (score !== null) await this.#redis.hset(this.#keys.readMarks(personId), conversationId, score);
  }

  async position(personId: string, conversationId: string): Promise<ReadPosition> {
    const mark = await this.#redis.hget(this.#keys.readMarks(personId), conversationId);
    const [unread, [last]] = await Promise.all([
      this.#redis.zcount(this.#keys.order(conversationId), mark === null ? '-inf' : `(${mark}`, '+inf'),
      this.list(conversationId, 1),
    ]);
    if (!last || isSeenBy(last, personId)) return { unread, last };
    const newest = await this.list(conversationId, SEARCHED_MESSAGES);
    const hidden = newest.slice(-unread).filter((message) => !isSeenBy(message, personId));
    const lastSeen = newest.findLast((message) => isSeenBy(message, personId));
    return { unread: unread - (unread === 0 ? 0 : hidden.length), last: lastSeen };
  }

  /** Records a message whose delivery or answer is in progress, for the next start to resume. */
  async markOpen(messageId: string): Promise<void> {
    await this.#redis.sadd(this.#keys.open, messageId);
  }

  async markSettled(messageId: string): Promise<void> {
    await this.#redis.srem(this.#keys.open, messageId);
  }

  /** Messages that were in progress when the last run ended. */
  async openMessages(): Promise<StoredMessage[]> {
    const ids = await this.#redis.smembers(this.#keys.open);
    const found = await Promise.all(ids.map((id) => this.get(id).catch(() => this.markSettled(id))));
    return found.filter((message) => message !== undefined);
  }

  async #trim(conversationId: string): Promise<void> {
    const outdated = await this.#redis.zrange(this.#keys.order(conversationId), '0', String(-MAX_MESSAGES - 1));
    if (outdated.length > 0) {
      await this.#redis.hdel(this.#keys.bodies(conversationId), ...outdated);
      await this.#redis.zrem(this.#keys.order(conversationId), ...outdated);
      await Promise.all(outdated.map((id) => this.#redis.del(this.#keys.placeOf(id))));
    }
    await this.#redis.expire(this.#keys.bodies(conversationId), RETENTION_SEC);
    await this.#redis.expire(this.#keys.order(conversationId), RETENTION_SEC);
  }

  #open(id: string, sealed: string): StoredMessage | undefined {
    const readMessage = recordWith<StoredMessage>('id', 'conversationId', 'sender');
    const opened = tryOpenJson(() => this.#keyRing.open(PURPOSE, id, sealed), readMessage);
    // Messages sealed with an earlier bot's key are lost, for example after a change of the platform's keys; so are broken
    // ones.
    return opened.kind === 'opened' ? opened.value : undefined;
  }
}

function keysOf(name: string) {
  // WeCom was the first platform, so its keys have no prefix.
  const prefix = name === 'wecom' ? 'messenger' : `messenger:${name}`;
  return {
    open: `${prefix}:open`,
    prompts: (conversationId: string) => `${prefix}:prompts:${conversationId}`,
    bodies: (conversationId: string) => `${prefix}:messages:${conversationId}`,
    order: (conversationId: string) => `${prefix}:order:${conversationId}`,
    placeOf: (messageId: string) => `${prefix}:place:${messageId}`,
    sending: (personId: string, clientId: string) => `${prefix}:sending:${hashParts(personId, clientId)}`,
    readMarks: (personId: string) => `${prefix}:read:${personId}`,
  };
}
