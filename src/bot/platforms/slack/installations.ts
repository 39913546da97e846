import { setTimeout as pause } from 'node:timers/promises';
import { MINUTE_MS, monotonicMs, SECOND_MS } from '../../../shared/clock.ts';
import { inBackground } from '../../../shared/in-background.ts';
import type { KeyRing } from '../../../shared/crypto/key-ring.ts';
import { isFirst } from '../../../shared/redis/claim-once.ts';
import type { RedisClient } from '../../../shared/redis/redis.ts';
import { settledWithin } from '../../../shared/settled-within.ts';
import { recordWith, tryOpenJson } from '../../../shared/crypto/decrypt-record.ts';

/** What Slack gave when the app was installed in a further workspace. */
export interface Installation {
  token: string;
  /** Whose events are ours there. */
  appId: string;
  botUserId: string;
}

const KEY = 'slack-installations';
const PURPOSE = 'slack-installation';
/** Other processes know of a new installation, or of its end, so much later. */
const READ_AGAIN_AFTER_MS = 2 * SECOND_MS;
/** Nobody waits longer for Redis: what was known before holds. */
const LONGEST_WAIT_MS = SECOND_MS;
/** An administrator waits longer. */
const LONGEST_OPENING_MS = 5 * SECOND_MS;
const LOOK_AGAIN_AFTER_MS = 50;
/** From the return on as long as the browser keeps its cookie from the beginning; nobody has proven anything by then, so no longer. */
const RETURN_REMEMBERED_MS = 10 * MINUTE_MS;
const readInstallation = recordWith<Installation>('token', 'appId', 'botUserId');

/**
 * The further workspaces in which the app is installed: each one's token sealed in Redis under a purpose of its own, bound to its team
 * (SECURITY.md secrets-stay-inside). Every process keeps what it read, and reads again at use.
 */
export class Installations {
  readonly #redis: RedisClient;
  readonly #keyRing: KeyRing;
  readonly #teams: readonly string[];
  #known = new Map<string, Installation>();
  #readAtMs = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | undefined;

  /** @param teams the workspaces that may have the app */
  constructor(redis: RedisClient, keyRing: KeyRing, teams: readonly string[]) {
    this.#redis = redis;
    this.#keyRing = keyRing;
    this.#teams = teams;
  }

  get teams(): readonly string[] {
    return this.#teams;
  }

  /** Whether Redis ever said what there is. */
  get isRead(): boolean {
    return this.#readAtMs !== Number.NEGATIVE_INFINITY;
  }

  /** Looks until Redis says, for so long: a connection may just be opening. Milliseconds. */
  async untilRead(limitMs: number): Promise<boolean> {
    const untilMs = monotonicMs() + limitMs;
    for (;;) {
      await this.fresh();
      if (this.isRead || monotonicMs() > untilMs) return this.isRead;
      await pause(LOOK_AGAIN_AFTER_MS);
    }
  }

  /** What was known at the last look. */
  known(team: string): Installation | undefined {
    return this.#known.get(team);
  }

  /** What to wait for before `known` is relied upon; undefined where it was read just now. Never rejects. */
  fresh(): Promise<unknown> | undefined {
    if (monotonicMs() - this.#readAtMs < READ_AGAIN_AFTER_MS) return undefined;
    this.#reading ??= this.#read().finally(() => (this.#reading = undefined));
    return settledWithin([this.#reading], LONGEST_WAIT_MS);
  }

  async find(team: string): Promise<Installation | undefined> {
    await this.fresh();
    return this.known(team);
  }

  /**
   * Whether nobody has come back with this `state` before: each counts once, also where a browser keeps its cookie.
   * @throws whatever the connection throws when Redis is away
   */
  async isFirstReturn(state: string): Promise<boolean> {
    // The connection may just be opening.
    await this.untilRead(LONGEST_OPENING_MS);
    return isFirst(this.#redis, `slack-install-return:${state}`, RETURN_REMEMBERED_MS);
  }

  /** @throws whatever the connection throws when Redis is away */
  async keep(team: string, installation: Installation): Promise<void> {
    await this.#redis.hset(KEY, team, this.#keyRing.seal(PURPOSE, team, JSON.stringify(installation)));
    this.#known.set(team, installation);
  }

  /** Forgets a token, unless another has taken its place meanwhile. */
  async end(team: string, token: string): Promise<void> {
    await this.#read();
    if (this.known(team)?.token !== token) return;
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
      // Broken or without its key: the app is installed there anew.
      if (opened.kind !== 'opened') continue;
      known.set(team, opened.value);
      // The old key may go once all is sealed by the new one.
      if (one.split('.')[1] !== this.#keyRing.currentKeyId) inBackground(() => this.keep(team, opened.value));
    }
    this.#known = known;
    this.#readAtMs = monotonicMs();
  }
}
