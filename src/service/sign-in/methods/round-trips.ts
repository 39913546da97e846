import { randomBytes } from 'node:crypto';
import { MINUTE_MS } from '../../../base/clock.ts';
import { sameSecret, sha256Hex } from '../../../base/ids.ts';
import { takeOnce } from '../../../base/only-one.ts';
import { PageError } from '../sign-in-errors.ts';
import type { Store } from '../store.ts';

/** How long somebody may take on the other side (security.md 1.3 step 9). */
const ROUND_TRIP_MS = 5 * MINUTE_MS;
const STATE = /^[0-9a-f]{64}$/;

/** A departure that waits for its return. */
export interface RoundTrip {
  method: string;
  /** A path of ours, for afterwards. */
  returnTo: string;
  kept?: string | undefined;
}

/** Browsers that are away to sign in elsewhere: by the hash of their state, once, for five minutes. */
export class RoundTrips {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /** A new state. Hex, as WeCom takes letters and digits only. */
  newState(): string {
    return randomBytes(32).toString('hex');
  }

  /** @throws StoreError */
  async begin(state: string, browserId: string, trip: RoundTrip): Promise<void> {
    const key = this.#key(state);
    const sealed = this.#store.seal(key, JSON.stringify({ ...trip, browser: sha256Hex(browserId) }));
    await this.#store.use((redis) => redis.set(key, sealed, 'PX', ROUND_TRIP_MS));
  }

  /**
   * Ends the trip, whoever asks: it is taken and deleted in one step, then judged.
   * @throws PageError `sign_in_lost` unless the same browser comes back by the same way; StoreError
   */
  async end(state: string, browserId: string | undefined, method: string): Promise<RoundTrip> {
    const key = this.#key(state);
    const sealed = STATE.test(state) ? await this.#store.use((redis) => takeOnce(redis, key)) : null;
    const opened = sealed === null ? undefined : this.#store.open(key, sealed);
    const trip = opened === undefined ? undefined : (JSON.parse(opened) as RoundTrip & { browser: string });
    const isSameBrowser =
      trip !== undefined && browserId !== undefined && sameSecret(sha256Hex(browserId), trip.browser);
    if (!isSameBrowser || trip.method !== method)
      throw new PageError('sign_in_lost', `A return by ${method} does not belong to this browser`);
    return trip;
  }

  #key(state: string): string {
    return this.#store.key('round-trip', sha256Hex(state));
  }
}
