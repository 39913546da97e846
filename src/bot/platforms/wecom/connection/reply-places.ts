import { HOUR_MS, SECOND_MS } from '../../../../shared/clock.ts';
import { sha256Hex } from '../../../../shared/crypto/ids.ts';
import type { KeyRing } from '../../../../shared/crypto/key-ring.ts';
import { loadScript } from '../../../../shared/redis/lua-script.ts';
import type { RedisClient } from '../../../../shared/redis/redis.ts';
import { recordWith, tryOpenJsonOfAny } from '../../../../shared/crypto/decrypt-record.ts';
import type { Chat } from '../../../domain/message.ts';
import type { AnswerFile } from '../../platform.ts';
import { REPLY_CHANNEL } from '../../../domain/reply.ts';

/** Lifetime of a place; WeCom takes answers for a day. */
const KEPT_MS = 25 * HOUR_MS;
const ENDED_MS = HOUR_MS;
const PURPOSE = 'wecom-reply-place';
/** A separate purpose, so that versions without file support do not take a file's place for a live answer. */
const FILE_PURPOSE = 'wecom-file-place';

const openScript = loadScript(import.meta.url, '../scripts/open-reply.lua', {
  constants: { KEPT_MS, REPLY_CHANNEL },
  keys: ['replies', 'ended'],
  args: ['id', 'sealed', 'isNotified'],
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

const notePushScript = loadScript(import.meta.url, '../scripts/note-push.lua', {
  constants: { KEPT_MS },
  keys: ['pushing'],
  args: ['number', 'isSent'],
});

/** Where an answer is shown: by the request of the answered message, as long as WeCom knows that request. */
export interface ReplyPlace {
  version: 1;
  /** Request id of the message's frame. */
  reqId: string;
  /** Request id of the same message, delivered again over a later connection. */
  laterReqId?: string;
  /** Id of the visible message; another one if the first cannot grow any more. */
  streamId: string;
  chat: Chat;
  userId: string;
  /** Text of a later message; absent for a live answer, which is read from its record. */
  text?: string;
  /** A file shown below an answer instead of a text. */
  file?: AnswerFile;
  /**
   * Set if the answer can only be shown complete, in a new stream of the same request or by a push, because its stream has
   * expired or WeCom no longer knows its request.
   */
  whole?: 'stream' | 'push';
}

/** A stored place. */
export interface FoundPlace {
  id: string;
  place: ReplyPlace;
  /** Time since it was opened, by Redis' clock. Milliseconds. */
  ageMs: number;
}

/** How an answer ended: shown, or refused by WeCom. */
export type ReplyEnd = 'sent' | 'refused';

/**
 * Answers to be sent over the connection, stored in Redis to survive the connection's holder. Keyed by the answer's id: its
 * message's delivery id, or a later message's own.
 */
export class ReplyPlaces {
  readonly #redis: RedisClient;
  readonly #keyRing: KeyRing;
  readonly #tag: string;

  /** @param botId the connection's bot */
  constructor(redis: RedisClient, keyRing: KeyRing, botId: string) {
    this.#redis = redis;
    this.#keyRing = keyRing;
    this.#tag = `{wecom-bot:${sha256Hex(botId).slice(0, 16)}}`;
  }

  get leaseKey(): string {
    return `${this.#tag}:lease`;
  }

  /**
   * Opens a place unless it is open or its answer has ended. Safe to repeat.
   * @param isNotified notifies the holder of the connection at once
   */
  async open(id: string, place: ReplyPlace, isNotified: boolean): Promise<'open' | 'known' | ReplyEnd> {
    const keys = { replies: this.#replies, ended: this.#ended(id) };
    const { state, ended } = await openScript.run(this.#redis, keys, { id, sealed: this.#seal(id, place), isNotified });
    return state === 'ended' ? (ended as ReplyEnd) : state;
  }

  /** Notifies the holder of the connection to check a place. */
  async notify(id: string): Promise<void> {
    await this.#redis.publish(REPLY_CHANNEL, id);
  }

  async find(id: string): Promise<FoundPlace | undefined> {
    const [kept, nowMs] = await Promise.all([this.#redis.hget(this.#replies, id), this.#nowMs()]);
    return kept === null ? undefined : this.#read(id, kept, nowMs);
  }

  /** All open places. A place that cannot be decrypted stays: another process may have its key. */
  async all(): Promise<FoundPlace[]> {
    const [kept, nowMs] = await Promise.all([this.#redis.hgetall(this.#replies), this.#nowMs()]);
    return Object.entries(kept).flatMap(([id, value]) => this.#read(id, value, nowMs) ?? []);
  }

  /** @param number of the holder's lease @returns false if another process holds the lease, or the answer has ended */
  async change(id: string, place: ReplyPlace, number: number): Promise<boolean> {
    const keys = { lease: this.leaseKey, replies: this.#replies };
    return changeScript.run(this.#redis, keys, { number, id, sealed: this.#seal(id, place) });
  }

  async end(id: string, how: ReplyEnd): Promise<void> {
    const keys = { replies: this.#replies, ended: this.#ended(id), pushing: this.#pushing(id) };
    await endScript.run(this.#redis, keys, { id, how });
  }

  /** Called before a push. @param number of the holder's lease @returns whether it may be sent, or was sent before */
  async beginPush(id: string, number: number): Promise<'push' | 'left' | 'stale'> {
    return beginPushScript.run(this.#redis, { lease: this.leaseKey, pushing: this.#pushing(id) }, { number });
  }

  /** Called together with the sending of a push. Another holder does not send it again. */
  async markPushSent(id: string, number: number): Promise<void> {
    await notePushScript.run(this.#redis, { pushing: this.#pushing(id) }, { number, isSent: true });
  }

  /** Clears the note of a push that was not sent, or that WeCom refused: it may be pushed later. */
  async withdrawPush(id: string, number: number): Promise<void> {
    await notePushScript.run(this.#redis, { pushing: this.#pushing(id) }, { number, isSent: false });
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

  /** @param kept the opening time and the sealed place (open-reply.lua) */
  #read(id: string, kept: string, nowMs: number): FoundPlace | undefined {
    const [atMs = '', sealed = ''] = kept.split(' ');
    const open = (purpose: string) => this.#keyRing.open(purpose, id, sealed);
    const opened = tryOpenJsonOfAny([PURPOSE, FILE_PURPOSE], open, readPlace);
    return opened.kind === 'opened' ? { id, place: opened.value, ageMs: Math.max(0, nowMs - Number(atMs)) } : undefined;
  }
}

const readPlace = recordWith<ReplyPlace>('reqId', 'streamId', 'userId');
