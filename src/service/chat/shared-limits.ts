import { MINUTE_MS, SECOND_MS, type NowMs } from '../../shared/clock.ts';
import { inBackground } from '../../shared/in-background.ts';
import { randomToken } from '../../shared/crypto/ids.ts';
import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import { loadScript } from '../../shared/redis/lua-script.ts';
import type { RedisClient } from '../../shared/redis/redis.ts';
import { withTimeout } from '../../shared/with-timeout.ts';
import { tooManyAtOnce, tooOften, type ChatLimits } from './key-limits.ts';

const WINDOW_MS = 10 * SECOND_MS;
/** Maximum time for which the open requests of a dead process count against their key. */
const SLOT_TTL_MS = 2 * MINUTE_MS;
const SLOT_RENEWAL_MS = SLOT_TTL_MS / 3;
/** Maximum wait for Redis. Without Redis each process applies its own limits. */
const REDIS_TIMEOUT_MS = 0.5 * SECOND_MS;
const ID_BYTES = 12;

const beginScript = loadScript(import.meta.url, './scripts/begin-request.lua', {
  keys: ['begun', 'open'],
  args: ['id', 'maxBegun', 'maxOpen', 'windowMs', 'placeMs', 'nowMs'],
  answer: { mayBegin: 'flag', waitMs: 'number' },
});
const keepScript = loadScript(import.meta.url, './scripts/keep-places.lua', {
  keys: ['open'],
  args: ['nowMs', 'placeMs', '...ids'],
});

export interface SharedLimitsOptions {
  redis: RedisClient;
  keyRing: KeyRing;
  limits: ChatLimits;
  /** The service's clock. Clock skew between processes shifts the window by the same amount. */
  nowMs: NowMs;
}

/** Counts the requests of each key across all processes of the service, in Redis. */
export class SharedLimits {
  readonly #redis: RedisClient;
  readonly #keyRing: KeyRing;
  readonly #limits: ChatLimits;
  readonly #nowMs: NowMs;
  /** Ids of open requests, by the Redis key that contains their slots. */
  readonly #open = new Map<string, Set<string>>();
  readonly #timer: NodeJS.Timeout;

  constructor({ redis, keyRing, limits, nowMs }: SharedLimitsOptions) {
    this.#redis = redis;
    this.#keyRing = keyRing;
    this.#limits = limits;
    this.#nowMs = nowMs;
    this.#timer = setInterval(() => inBackground(() => this.renewSlots()), SLOT_RENEWAL_MS).unref();
  }

  /**
   * Starts one request of an API key. If Redis is unavailable the request is allowed, and each process still applies its own
   * limits.
   * @returns a function to call when the request has ended; further calls do nothing
   * @throws ChatApiError 429 with the seconds to wait
   */
  async begin(apiKey: string): Promise<() => void> {
    const { begun, open } = this.#keysOf(apiKey);
    const id = randomToken(ID_BYTES);
    const { requestsPer10Sec, maxConcurrent } = this.#limits;
    const args = {
      id,
      maxBegun: requestsPer10Sec,
      maxOpen: maxConcurrent,
      windowMs: WINDOW_MS,
      placeMs: SLOT_TTL_MS,
      nowMs: this.#nowMs(),
    };
    const asked = beginScript.run(this.#redis, { begun, open }, args);
    const verdict = await withTimeout(asked, REDIS_TIMEOUT_MS).catch(() => undefined);
    if (verdict && !verdict.mayBegin) throw verdict.waitMs === 0 ? tooManyAtOnce() : tooOften(verdict.waitMs);
    const places = this.#open.get(open) ?? new Set();
    this.#open.set(open, places.add(id));
    return () => {
      if (!places.delete(id)) return;
      inBackground(() => this.#redis.zrem(open, id).catch(() => undefined));
    };
  }

  close(): void {
    clearInterval(this.#timer);
  }

  /** Renews the slots of open requests; runs on a timer. */
  async renewSlots(): Promise<void> {
    for (const [open, ids] of this.#open) {
      if (ids.size === 0) continue;
      await keepScript
        .run(this.#redis, { open }, { nowMs: this.#nowMs(), placeMs: SLOT_TTL_MS, ids: [...ids] })
        .catch(() => undefined);
    }
  }

  /** A keyed hash, so that Redis data reveals no API key. */
  #keysOf(apiKey: string): { begun: string; open: string } {
    const name = this.#keyRing.pseudonym('chat-key', apiKey);
    return { begun: `{chat:${name}}:begun`, open: `{chat:${name}}:open` };
  }
}
