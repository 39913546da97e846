import { setTimeout as pause } from 'node:timers/promises';
import { MINUTE_MS, monotonicMs, SECOND_MS } from '../../../shared/clock.ts';
import { inBackground } from '../../../shared/in-background.ts';
import type { KeyRing } from '../../../shared/crypto/key-ring.ts';
import { tryAcquire } from '../../../shared/redis/claim-once.ts';
import type { RedisClient } from '../../../shared/redis/redis.ts';
import { settledWithin } from '../../../shared/settled-within.ts';
import { recordWith, tryOpenJson } from '../../../shared/crypto/decrypt-record.ts';

/** The result of an installation in a further workspace. */
export interface Installation {
  token: string;
  /** App id of the events to accept from this workspace. */
  appId: string;
  botUserId: string;
}

const KEY = 'slack-installations';
const PURPOSE = 'slack-installation';
/** Maximum delay until other processes see a new or ended installation. */
const READ_AGAIN_AFTER_MS = 2 * SECOND_MS;
/** Maximum wait for Redis; after it, the last known state is used. */
const MAX_WAIT_MS = SECOND_MS;
/** Maximum wait for Redis when an administrator installs the app. */
const MAX_OPENING_MS = 5 * SECOND_MS;
const LOOK_AGAIN_AFTER_MS = 50;
/**
 * How long a return is remembered; as long as the browser keeps its cookie. Not longer, because a return is unauthenticated.
 */
const RETURN_REMEMBERED_MS = 10 * MINUTE_MS;
const readInstallation = recordWith<Installation>('token', 'appId', 'botUserId');

/**
 * Installations of the app in further workspaces. Each token is sealed in Redis under its own purpose and bound to its team
 * (SECURITY.md secrets-stay-inside). Every process caches what it read, and refreshes it on use.
 */
export class Installations {
  readonly #redis: RedisClient;
  readonly #keyRing: KeyRing;
  readonly #teams: readonly string[];
  #known = new Map<string, Installation>();
  #readAtMs = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | undefined;

  /** @param teams workspaces that may install the app */
  constructor(redis: RedisClient, keyRing: KeyRing, teams: readonly string[]) {
    this.#redis = redis;
    this.#keyRing = keyRing;
    this.#teams = teams;
  }

  get teams(): readonly string[] {
    return this.#teams;
  }

  /** Whether the installations have been read from Redis at least once. */
  get isRead(): boolean {
    return this.#readAtMs !== Number.NEGATIVE_INFINITY;
  }

  /** Retries until the installations have been read, because Redis may still be connecting. @param limitMs maximum wait */
  async untilRead(limitMs: number): Promise<boolean> {
    const untilMs = monotonicMs() + limitMs;
    for (;;) {
      await this.refresh();
      if (this.isRead || monotonicMs() > untilMs) return this.isRead;
      await pause(LOOK_AGAIN_AFTER_MS);
    }
  }

  /** The installation at the last read. */
  cached(team: string): Installation | undefined {
    return this.#known.get(team);
  }

  /** Refreshes the cache before `known` is used; undefined if it was read recently. Never rejects. */
  refresh(): Promise<unknown> | undefined {
    if (monotonicMs() - this.#readAtMs < READ_AGAIN_AFTER_MS) return undefined;
    this.#reading ??= this.#read().finally(() => (this.#reading = undefined));
    return settledWithin([this.#reading], MAX_WAIT_MS);
  }

  async find(team: string): Promise<Installation | undefined> {
    await this.refresh();
    return this.cached(team);
  }

  /**
   * Whether this `state` is used for the first time; each is accepted once, even if the browser keeps its cookie.
   * @throws any error of the Redis connection
   */
  async isFirstReturn(state: string): Promise<boolean> {
    // Redis may still be connecting.
    await this.untilRead(MAX_OPENING_MS);
    return tryAcquire(this.#redis, `slack-install-return:${state}`, RETURN_REMEMBERED_MS);
  }

  /** @throws any error of the Redis connection */
  async keep(team: string, installation: Installation): Promise<void> {
    await this.#redis.hset(KEY, team, this.#keyRing.seal(PURPOSE, team, JSON.stringify(installation)));
    this.#known.set(team, installation);
  }

  /** Deletes an installation, unless another token has replaced this one meanwhile. */
  async end(team: string, token: string): Promise<void> {
    await this.#read();
    if (this.cached(team)?.token !== token) return;
    await this.#redis.hdel(KEY, team);
    this.#known.delete(team);
  }

  async #read(): Promise<void> {
    if (this.#teams.length === 0) return;
    const sealed = await this.#redis.hmget(KEY, ...this.#teams);
    const known = new Map<string, Installation>();
    for (const [index, team] of this.#teams.entries()) {
      const one = sealed[index];
      if (typeof one !== 'string') continue;
      const opened = tryOpenJson(() => this.#keyRing.open(PURPOSE, team, one), readInstallation);
      // A damaged installation, or one whose key is missing, must be repeated by an administrator.
      if (opened.kind !== 'opened') continue;
      known.set(team, opened.value);
      // Sealed again with the current key, so that the old key can be removed.
      if (one.split('.')[1] !== this.#keyRing.currentKeyId) inBackground(() => this.keep(team, opened.value));
    }
    this.#known = known;
    this.#readAtMs = monotonicMs();
  }
}
