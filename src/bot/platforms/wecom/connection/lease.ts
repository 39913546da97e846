import { DAY_MS, MINUTE_MS, monotonicMs, SECOND_MS } from '../../../../shared/clock.ts';
import { Deferred } from '../../../../shared/deferred.ts';
import { randomToken } from '../../../../shared/crypto/ids.ts';
import { inBackground } from '../../../../shared/in-background.ts';
import { loadScript } from '../../../../shared/redis/lua-script.ts';
import type { RedisClient } from '../../../../shared/redis/redis.ts';
import { subscribe } from '../../../../shared/redis/subscriber.ts';
import { pauseUntil } from '../../../../shared/pause-until.ts';

/** A holder that was silent for so long has lost it: a dead one's place is taken within this and the next renewal. */
export const LEASE_MS = 4 * SECOND_MS;
const RENEW_EVERY_MS = SECOND_MS;
/** Redis did not answer: asked again soon. */
const ASK_AGAIN_MS = 0.25 * SECOND_MS;
const LEASE_CHANNEL = 'wecom-lease';

/** Longest pause before the connection is taken back from another program. */
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

/** What the processes share about other programs that connect as the same bot. */
export interface Rivalry {
  /** How often in a row another program has replaced the connection. */
  level: number;
  /** No connection before that. Milliseconds. */
  restMs: number;
}

/** The lease while it is held. */
export interface HeldLease {
  /** The fence: greater than that of every holder before. */
  readonly number: number;
  /** What was known when the lease was gained. */
  readonly rivalry: Rivalry;
  /** Whether no other process can hold it yet, not even if this process was frozen meanwhile; asked right before a frame leaves. */
  isCertain(): boolean;
  /** Whether another process holds it by now, as far as is known. */
  isLost(): boolean;
  /** Resolves once another process holds it. While Redis is away none can. */
  readonly lost: Promise<void>;
  /** Notes that the connection is open. @returns how long none was. Milliseconds. @throws whatever the Redis connection throws */
  opened(): Promise<number>;
  /**
   * Notes that the connection is not open any more, and asks Redis at once whether the lease is still held; what Redis does not hear
   * now it hears at the next renewal. Never rejects.
   */
  left(rivalry?: Rivalry): Promise<void>;
  /** @returns how many others wait for it */
  release(): Promise<number>;
}

/** Which one of all processes holds the bot's connection, by Redis' clock. */
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
   * Waits until the lease is held by this process.
   * @param onWait called whenever another process holds it
   * @throws the signal's reason
   */
  async gain(signal: AbortSignal, onWait: OnWait = () => undefined): Promise<HeldLease> {
    let freed = new Deferred();
    const endHearing = subscribe(this.#redis, { channel: LEASE_CHANNEL, onMessage: () => freed.resolve() });
    try {
      for (;;) {
        signal.throwIfAborted();
        freed = new Deferred();
        const askedMs = monotonicMs();
        const answer = await this.#ask(GAIN).catch(() => undefined);
        if (answer?.isMine === true) return this.#hold(answer, askedMs);
        if (answer) onWait(answer.isAway && answer.level > 0);
        // A little later than its end, and not all at the same moment.
        const waitMs = (answer?.waitMs ?? ASK_AGAIN_MS) + 20 + Math.random() * 100;
        await pauseUntil(waitMs, freed.promise, signal);
      }
    } finally {
      endHearing();
    }
  }

  /** Takes it only if it is free. @returns undefined where another one holds it @throws whatever the connection throws */
  async tryGain(onWait: OnWait = () => undefined): Promise<HeldLease | undefined> {
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
    // Redis counts from when it answers, which is later than when it was asked.
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
      opened() {
        state = 'open';
        return renew();
      },
      async left(next) {
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

/** @param isReplaced where another program has the connection of the process that holds the lease */
type OnWait = (isReplaced: boolean) => void;

type Note = { state: 'gain' | 'open' | 'away' } & Rivalry;

const GAIN: Note = { state: 'gain', level: 0, restMs: 0 };
