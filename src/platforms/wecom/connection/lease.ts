import { DAY_MS, monotonicMs, SECOND_MS } from '../../../base/clock.ts';
import { Deferred } from '../../../base/deferred.ts';
import { randomToken } from '../../../base/ids.ts';
import { inBackground } from '../../../base/in-background.ts';
import { loadScript } from '../../../base/lua-script.ts';
import type { RedisClient } from '../../../base/redis.ts';
import { subscribe } from '../../../base/subscriber.ts';
import { pauseUntil } from '../../../base/pause-until.ts';

/** A holder that was silent for so long has lost it: a dead one's place is taken within this and the next renewal. */
export const LEASE_MS = 4 * SECOND_MS;
const RENEW_EVERY_MS = SECOND_MS;
/** Redis did not answer: asked again soon. */
const ASK_AGAIN_MS = 0.25 * SECOND_MS;
const LEASE_CHANNEL = 'wecom-lease';

const holdScript = loadScript(import.meta.url, '../scripts/hold-lease.lua', {
  constants: { LEASE_MS, KEPT_MS: 30 * DAY_MS },
  keys: ['lease'],
  args: ['holder', 'known'],
  answer: { isMine: 'flag', number: 'number', waitMs: 'number', gapMs: 'number' },
});
const releaseScript = loadScript(import.meta.url, '../scripts/release-lease.lua', {
  constants: { LEASE_CHANNEL },
  keys: ['lease'],
  args: ['holder'],
  answer: 'number',
});

/** The lease while it is held. */
export interface HeldLease {
  /** The fence: greater than that of every holder before. */
  readonly number: number;
  /** How long nobody is known to have held it before. Milliseconds. */
  readonly gapMs: number;
  /** Whether nobody else can hold it yet, not even if this process was frozen meanwhile; asked right before a frame leaves. */
  isCertain(): boolean;
  /** Whether another one holds it by now, as far as is known. */
  isLost(): boolean;
  /** Resolves once another one holds it. While Redis is away nobody can. */
  readonly lost: Promise<void>;
  /** @returns how many others wait for it */
  release(): Promise<number>;
}

/** Who of all processes holds the bot's one connection: one at a time, by Redis' clock. */
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

  /** Waits until it is ours. @throws the signal's reason */
  async gain(signal: AbortSignal): Promise<HeldLease> {
    let freed = new Deferred();
    const endHearing = subscribe(this.#redis, { channel: LEASE_CHANNEL, onMessage: () => freed.resolve() });
    try {
      for (;;) {
        signal.throwIfAborted();
        freed = new Deferred();
        const askedMs = monotonicMs();
        const answer = await this.#ask().catch(() => undefined);
        if (answer?.isMine === true) return this.#hold(answer, askedMs);
        // A little later than its end, and not all at the same moment.
        const waitMs = (answer?.waitMs ?? ASK_AGAIN_MS) + 20 + Math.random() * 100;
        await pauseUntil(waitMs, freed.promise, signal);
      }
    } finally {
      endHearing();
    }
  }

  /** Takes it only if it is free. @returns undefined where another one holds it @throws whatever the connection throws */
  async tryGain(): Promise<HeldLease | undefined> {
    const askedMs = monotonicMs();
    const answer = await this.#ask();
    return answer.isMine ? this.#hold(answer, askedMs) : undefined;
  }

  #ask() {
    return holdScript.run(this.#redis, { lease: this.#key }, { holder: this.#holder, known: this.#known });
  }

  #hold({ number, gapMs }: { number: number; gapMs: number }, askedMs: number): HeldLease {
    this.#known = number;
    // Redis counts from when it answers, which is later than when it was asked.
    let certainUntilMs = askedMs + LEASE_MS;
    const lost = new Deferred();
    let isLost = false;
    const renew = async () => {
      const againMs = monotonicMs();
      const answer = await this.#ask().catch(() => undefined);
      if (answer?.isMine === true && answer.number === number) certainUntilMs = againMs + LEASE_MS;
      else if (answer) end();
    };
    const renewing = setInterval(() => inBackground(renew), RENEW_EVERY_MS);
    const end = () => {
      clearInterval(renewing);
      certainUntilMs = Number.NEGATIVE_INFINITY;
      isLost = true;
      lost.resolve();
    };
    return {
      number,
      gapMs,
      isCertain: () => monotonicMs() < certainUntilMs,
      isLost: () => isLost,
      lost: lost.promise,
      release: async () => {
        end();
        return releaseScript.run(this.#redis, { lease: this.#key }, { holder: this.#holder });
      },
    };
  }
}
