import { DAY_MS, MINUTE_MS, monotonicMs, SECOND_MS } from '../../../../shared/clock.ts';
import { Deferred } from '../../../../shared/deferred.ts';
import { randomToken } from '../../../../shared/crypto/ids.ts';
import { inBackground } from '../../../../shared/in-background.ts';
import { loadScript } from '../../../../shared/redis/lua-script.ts';
import type { RedisClient } from '../../../../shared/redis/redis.ts';
import { subscribe } from '../../../../shared/redis/subscriber.ts';
import { pauseUntil } from '../../../../shared/pause-until.ts';

/** Lease time without renewal; a dead holder is replaced within this and one renewal interval. */
export const LEASE_MS = 4 * SECOND_MS;
const RENEW_EVERY_MS = SECOND_MS;
/** Pause before Redis is asked again after an error. */
const ASK_AGAIN_MS = 0.25 * SECOND_MS;
const LEASE_CHANNEL = 'wecom-lease';

/** Maximum pause before the connection is taken back from another program. */
export const MAX_REST_MS = MINUTE_MS;

const holdScript = loadScript(import.meta.url, '../scripts/hold-lease.lua', {
  constants: { LEASE_MS, KEPT_MS: 30 * DAY_MS, MAX_REST_MS },
  keys: ['lease'],
  args: ['holder', 'known', 'state', 'level', 'restMs'],
  answer: {
    ...{ isMine: 'flag', number: 'number', waitMs: 'number', gapMs: 'number' },
    ...{ level: 'number', restMs: 'number', isAway: 'flag' },
  },
});
const releaseScript = loadScript(import.meta.url, '../scripts/release-lease.lua', {
  constants: { LEASE_CHANNEL },
  keys: ['lease'],
  args: ['holder'],
  answer: 'number',
});

/** Shared state about other programs that connect as the same bot. */
export interface Rivalry {
  /** Number of replacements by another program in a row. */
  level: number;
  /** Time during which no process may connect. Milliseconds. */
  restMs: number;
}

/** The lease while it is held. */
export interface HeldLease {
  /** The fence: greater than that of every holder before. */
  readonly number: number;
  /** The rivalry known when the lease was gained. */
  readonly rivalry: Rivalry;
  /** Whether no other process can hold it yet, even if this process was frozen meanwhile; checked right before each frame. */
  isCertain(): boolean;
  /** Whether another process is known to hold it. */
  isLost(): boolean;
  /** Resolves once another process holds it. While Redis is unavailable no other process can. */
  readonly lost: Promise<void>;
  /**
   * Records that the connection is open.
   * @returns how long no connection was open. Milliseconds @throws any error of the Redis connection
   */
  markOpen(): Promise<number>;
  /**
   * Records that the connection is closed, and checks at once whether the lease is still held; if Redis cannot be reached,
   * the next renewal repeats this. Never rejects.
   */
  markClosed(rivalry?: Rivalry): Promise<void>;
  /** @returns the number of waiting processes */
  release(): Promise<number>;
}

/** Determines which of all processes holds the bot's connection, by Redis' clock. */
export class Lease {
  readonly #redis: RedisClient;
  readonly #key: string;
  readonly #holder = randomToken(12);
  #known = 0;

  /** @param key of the lease in Redis */
  constructor(redis: RedisClient, key: string) {
    this.#redis = redis;
    this.#key = key;
  }

  /**
   * Waits until this process holds the lease.
   * @param onWait called whenever another process holds it
   * @throws the signal's reason
   */
  async acquire(signal: AbortSignal, onWait: OnWait = () => undefined): Promise<HeldLease> {
    let freed = new Deferred();
    const unsubscribe = subscribe(this.#redis, { channel: LEASE_CHANNEL, onMessage: () => freed.resolve() });
    try {
      for (;;) {
        signal.throwIfAborted();
        freed = new Deferred();
        const askedMs = monotonicMs();
        const answer = await this.#ask(GAIN).catch(() => undefined);
        if (answer?.isMine === true) return this.#hold(answer, askedMs);
        if (answer) onWait(answer.isAway && answer.level > 0);
        // Slightly after its end, with jitter between processes.
        const waitMs = (answer?.waitMs ?? ASK_AGAIN_MS) + 20 + Math.random() * 100;
        await pauseUntil(waitMs, freed.promise, signal);
      }
    } finally {
      unsubscribe();
    }
  }

  /**
   * Takes the lease only if it is free.
   * @returns undefined if another process holds it @throws any error of the Redis connection
   */
  async tryAcquire(onWait: OnWait = () => undefined): Promise<HeldLease | undefined> {
    const askedMs = monotonicMs();
    const answer = await this.#ask(GAIN);
    if (answer.isMine) return this.#hold(answer, askedMs);
    onWait(answer.isAway && answer.level > 0);
    return undefined;
  }

  #ask(note: Note) {
    return holdScript.run(this.#redis, { lease: this.#key }, { holder: this.#holder, known: this.#known, ...note });
  }

  #hold({ number, level, restMs }: { number: number } & Rivalry, askedMs: number): HeldLease {
    this.#known = number;
    // Redis counts from when it answers, which is later than the request.
    let certainUntilMs = askedMs + LEASE_MS;
    let state: 'open' | 'away' = 'away';
    let rivalry = { level, untilMs: askedMs + restMs };
    const lost = new Deferred();
    let isLost = false;
    const renew = async () => {
      const againMs = monotonicMs();
      const note = { state, level: rivalry.level, restMs: Math.max(0, Math.ceil(rivalry.untilMs - againMs)) };
      const answer = await this.#ask(note);
      if (isLost) return 0;
      if (answer.isMine && answer.number === number) certainUntilMs = againMs + LEASE_MS;
      else end();
      return answer.gapMs;
    };
    const renewing = setInterval(() => inBackground(() => renew().catch(() => 0)), RENEW_EVERY_MS);
    const end = () => {
      clearInterval(renewing);
      certainUntilMs = Number.NEGATIVE_INFINITY;
      isLost = true;
      lost.resolve();
    };
    return {
      number,
      rivalry: { level, restMs },
      isCertain: () => monotonicMs() < certainUntilMs,
      isLost: () => isLost,
      lost: lost.promise,
      markOpen() {
        state = 'open';
        return renew();
      },
      async markClosed(next) {
        state = 'away';
        if (next) rivalry = { level: next.level, untilMs: monotonicMs() + next.restMs };
        if (!isLost) await renew().catch(() => 0);
      },
      release: async () => {
        end();
        return releaseScript.run(this.#redis, { lease: this.#key }, { holder: this.#holder });
      },
    };
  }
}

/** @param isReplaced whether another program has replaced the connection of the lease's holder */
type OnWait = (isReplaced: boolean) => void;

type Note = { state: 'gain' | 'open' | 'away' } & Rivalry;

const GAIN: Note = { state: 'gain', level: 0, restMs: 0 };
