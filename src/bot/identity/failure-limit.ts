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

/** Useless requests of one address in a minute. A campus of thousands may stand behind it, so that some fail at any time. */
const FAILURES_PER_MINUTE = 600;

/** The in-memory counter's bound; beyond it counting begins anew. */
const MAX_REMEMBERED = 10_000;

const KEY_PURPOSE = 'failure-limit';

/**
 * Counts the requests of an address that came to nothing: no ticket, no sign-in under way, no form of ours. Whatever leads on
 * is never counted, so that noise stops nobody who stands behind the same address.
 */
export interface FailureLimit {
  /**
   * Counts a useless request.
   * @returns milliseconds to wait when it is one too many, else undefined
   */
  count(address: string): Promise<number | undefined>;
}

/** Counts in Redis, and in this process alone while Redis is away; keys name addresses by a keyed hash. */
export function createFailureLimit(store: IdentityStore, keyRing: KeyRing, nowMs: NowMs): FailureLimit {
  const counted = createMemoryCounter();
  return {
    async count(address) {
      const now = nowMs();
      const minute = Math.floor(now / MINUTE_MS);
      const key = keys.failures(hmacHex(keyRing.deriveKey(KEY_PURPOSE), address).slice(0, 20), minute);
      const countedHere = counted.add(key, 1);
      // Noise that is over its limit costs Redis nothing more.
      const failures = countedHere > FAILURES_PER_MINUTE ? countedHere : await countEverywhere(store, key, countedHere);
      if (failures <= FAILURES_PER_MINUTE) return undefined;
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
