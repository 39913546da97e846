import { MINUTE_MS, type NowMs } from '../../shared/clock.ts';
import { hmacHex } from '../../shared/crypto/ids.ts';
import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import { loadScript } from '../../shared/redis/lua-script.ts';
import { keys, type IdentityStore } from './store.ts';

const countFailure = loadScript(import.meta.url, './scripts/count-failure.lua', {
  keys: ['counter'],
  args: ['lifeMs'],
  answer: 'number',
});

/** A campus with thousands of users may share an address, so some failures are normal. */
const DEFAULT_PER_MINUTE = 600;

/** Maximum addresses in the in-memory counter. Above it, the counter is reset. */
const MAX_REMEMBERED = 10_000;

const KEY_PURPOSE = 'failure-limit';

/**
 * Limits the failed requests of an address: no invitation, no sign-in in progress, or an invalid form. Successful requests
 * are never counted, so that noise does not block others behind the same address.
 */
export interface FailureLimit {
  /** Counts a failed request. @returns milliseconds to wait if the limit is exceeded, else undefined */
  count(address: string): Promise<number | undefined>;
}

export interface FailureLimitOptions {
  store: IdentityStore;
  keyRing: KeyRing;
  nowMs: NowMs;
  /** Maximum failed requests per address and minute. Defaults to 600. */
  maxPerMinute?: number;
}

/** Counts in Redis, or only in this process while Redis is unavailable. Addresses are stored as keyed hashes. */
export function createFailureLimit(options: FailureLimitOptions): FailureLimit {
  const { store, keyRing, nowMs, maxPerMinute = DEFAULT_PER_MINUTE } = options;
  const counted = createMemoryCounter();
  return {
    async count(address) {
      const now = nowMs();
      const minute = Math.floor(now / MINUTE_MS);
      const key = keys.failures(hmacHex(keyRing.deriveKey(KEY_PURPOSE), address).slice(0, 20), minute);
      const countedHere = counted.add(key, 1);
      // Above the limit, further requests cause no Redis commands.
      const failures = countedHere > maxPerMinute ? countedHere : await countEverywhere(store, key, countedHere);
      if (failures <= maxPerMinute) return undefined;
      counted.add(key, failures - countedHere);
      return (minute + 1) * MINUTE_MS - now;
    },
  };
}

async function countEverywhere(store: IdentityStore, key: string, countedHere: number): Promise<number> {
  try {
    return Math.max(countedHere, await store.run(countFailure, { counter: key }, { lifeMs: 2 * MINUTE_MS }));
  } catch {
    return countedHere;
  }
}

function createMemoryCounter(): { add(key: string, count: number): number } {
  let remembered = new Map<string, number>();
  return {
    add(key, count) {
      if (remembered.size >= MAX_REMEMBERED) remembered = new Map();
      const failures = (remembered.get(key) ?? 0) + count;
      remembered.set(key, failures);
      return failures;
    },
  };
}
