import { MINUTE_MS, SECOND_MS } from '../../base/clock.ts';
import { hashParts } from '../../base/ids.ts';
import type { Store } from './store.ts';

const WINDOW_MS = 10 * MINUTE_MS;
/** From here on a wrong password is answered with 429; the right one still lets in, so nobody can lock a colleague out by a few guesses. */
const TOLD_AFTER_FAILURES = 10;
/** From here on passwords of this name from this address are no longer looked at: no honest person types that many. */
const REFUSED_AFTER_FAILURES = 100;

export type LoginVerdict = 'free' | 'slow' | 'refused';

/** Counts wrong passwords per name and address. Right ones are not counted and forgive the earlier ones. */
export class LoginThrottle {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /** @throws StoreError */
  async verdict(username: string, address: string): Promise<LoginVerdict> {
    return judge(Number((await this.#store.use((redis) => redis.get(this.#key(username, address)))) ?? 0));
  }

  /** Counts a wrong password and judges anew. @throws StoreError */
  async failed(username: string, address: string): Promise<LoginVerdict> {
    const key = this.#key(username, address);
    const results = await this.#store.use((redis) => redis.multi().incr(key).pexpire(key, WINDOW_MS).exec());
    return judge(Number(results?.[0]?.[1] ?? 0));
  }

  /** @throws StoreError */
  async succeeded(username: string, address: string): Promise<void> {
    await this.#store.use((redis) => redis.del(this.#key(username, address)));
  }

  #key(username: string, address: string): string {
    return this.#store.key('failed-logins', hashParts(username.toLowerCase(), address));
  }
}

/** What a throttled person is told to wait. */
export const RETRY_AFTER_SEC = WINDOW_MS / SECOND_MS;

function judge(failures: number): LoginVerdict {
  if (failures >= REFUSED_AFTER_FAILURES) return 'refused';
  return failures > TOLD_AFTER_FAILURES ? 'slow' : 'free';
}
