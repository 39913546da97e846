import { HOUR_MS, SECOND_MS } from '../../../../shared/clock.ts';
import { sha256Hex } from '../../../../shared/crypto/ids.ts';
import type { KeyRing } from '../../../../shared/crypto/key-ring.ts';
import { loadScript } from '../../../../shared/redis/lua-script.ts';
import type { RedisClient } from '../../../../shared/redis/redis.ts';
import { recordWith, tryOpenJsonOfAny } from '../../../../shared/crypto/decrypt-record.ts';
import type { Chat } from '../../../domain/message.ts';
import type { AnswerFile } from '../../platform.ts';
import { REPLY_CHANNEL } from '../../../domain/reply.ts';

/** WeCom takes answers for a day; nobody looks for one that is older. */
const KEPT_MS = 25 * HOUR_MS;
const ENDED_MS = HOUR_MS;
const PURPOSE = 'wecom-reply-place';
/** A place of a file opens to no version that would take it for a live answer. */
const FILE_PURPOSE = 'wecom-file-place';

const openScript = loadScript(import.meta.url, '../scripts/open-reply.lua', {
  constants: { KEPT_MS, REPLY_CHANNEL },
  keys: ['replies', 'ended'],
  args: ['id', 'sealed', 'isTold'],
  answer: { state: ['open', 'known', 'ended'], ended: 'text' },
});
const changeScript = loadScript(import.meta.url, '../scripts/change-reply.lua', {
  keys: ['lease', 'replies'],
  args: ['number', 'id', 'sealed'],
  answer: 'flag',
});
const endScript = loadScript(import.meta.url, '../scripts/end-reply.lua', {
  constants: { ENDED_MS },
  keys: ['replies', 'ended', 'pushing'],
  args: ['id', 'how'],
});
const beginPushScript = loadScript(import.meta.url, '../scripts/begin-push.lua', {
  constants: { KEPT_MS },
  keys: ['lease', 'pushing'],
  args: ['number'],
  answer: ['push', 'left', 'stale'],
});

/** Where an answer is shown: by the request of the message that it answers, as long as WeCom knows that. */
export interface ReplyPlace {
  version: 1;
  /** Of the message's frame. */
  reqId: string;
  /** Of the same message, delivered once more over a later connection. */
  laterReqId?: string;
  /** The visible message; another one's where the first cannot grow any more. */
  streamId: string;
  chat: Chat;
  /** Who asked. */
  userId: string;
  /** A later message, whole; absent of a live answer, which is read from its record. */
  text?: string;
  /** A file that is shown below an answer, in place of a text. */
  file?: AnswerFile;
  /** How it is shown from now on: whole only, in a new stream of the same request or pushed, since its stream is over or its request forgotten. */
  whole?: 'stream' | 'push';
}

/** A place as it was found. */
export interface FoundPlace {
  id: string;
  place: ReplyPlace;
  /** Since it was opened, by Redis' clock. Milliseconds. */
  ageMs: number;
}

/** How an answer ended: it stands, or WeCom did not take it. */
export type ReplyEnd = 'sent' | 'refused';

/**
 * What is to be answered over the connection, in Redis, so that it survives whoever holds the connection. By the id of the answer:
 * its message's delivery id, or a later message's own.
 */
export class ReplyPlaces {
  readonly #redis: RedisClient;
  readonly #keyRing: KeyRing;
  readonly #tag: string;

  /** @param botId whose connection it is */
  constructor(redis: RedisClient, keyRing: KeyRing, botId: string) {
    this.#redis = redis;
    this.#keyRing = keyRing;
    this.#tag = `{wecom-bot:${sha256Hex(botId).slice(0, 16)}}`;
  }

  get leaseKey(): string {
    return `${this.#tag}:lease`;
  }

  /**
   * Opens a place unless it is open, or its answer has ended. Safe to repeat.
   * @param isTold tells the holder of the connection at once
   */
  async open(id: string, place: ReplyPlace, isTold: boolean): Promise<'open' | 'known' | ReplyEnd> {
    const keys = { replies: this.#replies, ended: this.#ended(id) };
    const { state, ended } = await openScript.run(this.#redis, keys, { id, sealed: this.#seal(id, place), isTold });
    return state === 'ended' ? (ended as ReplyEnd) : state;
  }

  /** Tells the holder of the connection to look at a place. */
  async tell(id: string): Promise<void> {
    await this.#redis.publish(REPLY_CHANNEL, id);
  }

  async find(id: string): Promise<FoundPlace | undefined> {
    const [kept, nowMs] = await Promise.all([this.#redis.hget(this.#replies, id), this.#nowMs()]);
    return kept === null ? undefined : this.#read(id, kept, nowMs);
  }

  /** All that is open. One that does not open is left where it is: another process may have its key. */
  async all(): Promise<FoundPlace[]> {
    const [kept, nowMs] = await Promise.all([this.#redis.hgetall(this.#replies), this.#nowMs()]);
    return Object.entries(kept).flatMap(([id, value]) => this.#read(id, value, nowMs) ?? []);
  }

  /** @param number of the holder's lease @returns false where it is another's by now, or over */
  async change(id: string, place: ReplyPlace, number: number): Promise<boolean> {
    const keys = { lease: this.leaseKey, replies: this.#replies };
    return changeScript.run(this.#redis, keys, { number, id, sealed: this.#seal(id, place) });
  }

  async end(id: string, how: ReplyEnd): Promise<void> {
    const keys = { replies: this.#replies, ended: this.#ended(id), pushing: this.#pushing(id) };
    await endScript.run(this.#redis, keys, { id, how });
  }

  /** Asked right before a push. @param number of the holder's lease @returns whether it may leave, or has left before */
  async beginPush(id: string, number: number): Promise<'push' | 'left' | 'stale'> {
    return beginPushScript.run(this.#redis, { lease: this.leaseKey, pushing: this.#pushing(id) }, { number });
  }

  /** It did not leave, or WeCom did not take it: it may be pushed later. */
  async withdrawPush(id: string): Promise<void> {
    await this.#redis.del(this.#pushing(id));
  }

  get #replies(): string {
    return `${this.#tag}:replies`;
  }

  #ended(id: string): string {
    return `${this.#tag}:ended:${id}`;
  }

  #pushing(id: string): string {
    return `${this.#tag}:pushing:${id}`;
  }

  #seal(id: string, place: ReplyPlace): string {
    return this.#keyRing.seal(place.file ? FILE_PURPOSE : PURPOSE, id, JSON.stringify(place));
  }

  async #nowMs(): Promise<number> {
    const [sec] = await this.#redis.time();
    return Number(sec) * SECOND_MS;
  }

  /** @param kept when it was opened, and the sealed place (open-reply.lua) */
  #read(id: string, kept: string, nowMs: number): FoundPlace | undefined {
    const [atMs = '', sealed = ''] = kept.split(' ');
    const open = (purpose: string) => this.#keyRing.open(purpose, id, sealed);
    const opened = tryOpenJsonOfAny([PURPOSE, FILE_PURPOSE], open, readPlace);
    return opened.kind === 'opened' ? { id, place: opened.value, ageMs: Math.max(0, nowMs - Number(atMs)) } : undefined;
  }
}

const readPlace = recordWith<ReplyPlace>('reqId', 'streamId', 'userId');
