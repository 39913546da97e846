import { DAY_MS, SECOND_MS, type NowMs } from '../../../shared/clock.ts';
import type { Deferred } from '../../../shared/deferred.ts';
import { inBackground } from '../../../shared/in-background.ts';
import type { RedisClient } from '../../../shared/redis/redis.ts';

/** A message that was sent to the bot: its req_id accepts any number of frames, for a day. */
interface MessageRequest {
  kind: 'message';
  messageId: string;
  connectionId: string;
  atMs: number;
}

/** An event that was sent to the bot: its req_id accepts a single answer, for some seconds. */
interface EventRequest {
  kind: 'event';
  eventtype: string;
  answer: Deferred<unknown>;
}

const KEY = 'messenger:wecom-requests';
const MAX_REQUESTS = 10_000;

/**
 * Messages and events that were sent to the bot, by req_id (PLATFORM_FACTS.md wecom-connection). Those of messages survive a
 * restart of the messenger.
 */
export class Requests {
  readonly #redis: RedisClient;
  readonly #nowMs: NowMs;
  readonly #messages = new Map<string, MessageRequest>();
  readonly #events = new Map<string, EventRequest>();

  constructor(redis: RedisClient, nowMs: NowMs) {
    this.#redis = redis;
    this.#nowMs = nowMs;
  }

  /** Loads the messages that an earlier run sent. */
  async resume(): Promise<void> {
    const kept = Object.entries(await this.#redis.hgetall(KEY));
    const read = kept.map(([reqId, json]) => [reqId, JSON.parse(json) as MessageRequest] as const);
    for (const [reqId, request] of read.sort(([, left], [, right]) => left.atMs - right.atMs))
      this.#messages.set(reqId, request);
  }

  addMessage(reqId: string, messageId: string, connectionId: string): void {
    const request: MessageRequest = { kind: 'message', messageId, connectionId, atMs: this.#nowMs() };
    this.#messages.set(reqId, request);
    const outdated = this.#takeOutdated();
    inBackground(async () => {
      await this.#redis.hset(KEY, reqId, JSON.stringify(request));
      await this.#redis.expire(KEY, DAY_MS / SECOND_MS);
      if (outdated.length > 0) await this.#redis.hdel(KEY, ...outdated);
    });
  }

  /** @returns a function that stops waiting for its answer */
  addEvent(reqId: string, eventtype: string, answer: Deferred<unknown>): () => void {
    this.#events.set(reqId, { kind: 'event', eventtype, answer });
    return () => void this.#events.delete(reqId);
  }

  find(reqId: string): MessageRequest | EventRequest | undefined {
    const message = this.#messages.get(reqId);
    if (message) return this.#nowMs() - message.atMs < DAY_MS ? message : undefined;
    return this.#events.get(reqId);
  }

  #takeOutdated(): string[] {
    const outdated: string[] = [];
    for (const [reqId, { atMs }] of this.#messages) {
      if (this.#messages.size <= MAX_REQUESTS && this.#nowMs() - atMs < DAY_MS) break;
      this.#messages.delete(reqId);
      outdated.push(reqId);
    }
    return outdated;
  }
}
