import { randomBytes } from 'node:crypto';
import { MINUTE_MS } from '../../../base/clock.ts';
import { sameSecret, sha256Hex } from '../../../base/ids.ts';
import type { KeyRing } from '../../../base/key-ring.ts';
import { PageError } from '../sign-in-errors.ts';
import type { Store } from '../store.ts';

/** How long somebody may take on the other side (security.md 1.3 step 9). */
const ROUND_TRIP_MS = 5 * MINUTE_MS;
const PURPOSE = 'service-round-trip';
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
  readonly #keyRing: KeyRing;

  constructor(store: Store, keyRing: KeyRing) {
    this.#store = store;
    this.#keyRing = keyRing;
  }

  /** A new state. Hex, as WeCom takes letters and digits only. */
  newState(): string {
    return randomBytes(32).toString('hex');
  }

  /** @throws StoreError */
  async begin(state: string, browserId: string, trip: RoundTrip): Promise<void> {
    const hash = sha256Hex(state);
    const sealed = this.#keyRing.seal(PURPOSE, hash, JSON.stringify({ ...trip, browser: sha256Hex(browserId) }));
    await this.#store.use((redis) => redis.set(this.#store.key('round-trip', hash), sealed, 'PX', ROUND_TRIP_MS));
  }

  /**
   * Ends the trip, whoever asks: it is taken and deleted in one step, then judged.
   * @throws PageError `sign_in_lost` unless the same browser comes back by the same way; StoreError
   */
  async end(state: string, browserId: string | undefined, method: string): Promise<RoundTrip> {
    const hash = sha256Hex(state);
    const sealed = STATE.test(state)
      ? await this.#store.use((redis) => redis.getdel(this.#store.key('round-trip', hash)))
      : null;
    const trip = sealed === null ? undefined : this.#open(hash, sealed);
    const isSameBrowser =
      trip !== undefined && browserId !== undefined && sameSecret(sha256Hex(browserId), trip.browser);
    if (!isSameBrowser || trip.method !== method)
      throw new PageError('sign_in_lost', `A return by ${method} does not belong to this browser`);
    return trip;
  }

  /** What another key sealed is as good as lost. */
  #open(hash: string, sealed: string): (RoundTrip & { browser: string }) | undefined {
    try {
      return JSON.parse(this.#keyRing.open(PURPOSE, hash, sealed)) as RoundTrip & { browser: string };
    } catch {
      return undefined;
    }
  }
}
