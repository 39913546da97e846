import { randomBytes } from 'node:crypto';
import type { Context } from 'koa';
import { MINUTE_MS, type NowMs } from '../../../shared/clock.ts';
import { sha256Hex } from '../../../shared/crypto/ids.ts';
import { tryAcquire } from '../../../shared/redis/claim-once.ts';
import { recordWith } from '../../../shared/crypto/decrypt-record.ts';
import { browserIdOf, clearTripCookie, knownBrowserId, tripCookies, writeTripCookie } from '../cookies.ts';
import { PageError } from '../sign-in-errors.ts';
import type { Store } from '../store.ts';

/** Maximum time for the sign-in at the provider (SECURITY.md one-transaction). */
const ROUND_TRIP_MS = 5 * MINUTE_MS;
const STATE = /^[0-9a-f]{64}$/;
const NAME_CHARS = 16;
/** Browsers limit a cookie to 4,096 bytes, including its name. */
const MAX_SEALED_CHARS = 3_800;
/** Limit for all round trips of one browser, so that its requests stay within the 8 KiB of headers that we accept. */
const MAX_KEPT_CHARS = 4_000;

/** A sign-in that waits for its return. */
export interface RoundTrip {
  method: string;
  /** Our own path to continue at afterwards. */
  returnTo: string;
  kept?: string;
}

interface SealedTrip extends RoundTrip {
  beganAtMs: number;
}

/**
 * Browsers that are signing in elsewhere. Each stores its own round trip in a cookie, sealed for that browser and state:
 * anyone can start a sign-in, so starting one must use no storage here. Only a successful return is stored, so that it
 * counts once.
 */
export class RoundTrips {
  readonly #store: Store;
  readonly #nowMs: NowMs;

  constructor(store: Store, nowMs: NowMs) {
    this.#store = store;
    this.#nowMs = nowMs;
  }

  /** A new state. Hex, because WeCom accepts only letters and digits. */
  newState(): string {
    return randomBytes(32).toString('hex');
  }

  /**
   * Stores a round trip in the browser, and removes its oldest ones above the limit. @throws PageError `bad_request` if it
   * is too long for a cookie
   */
  begin(ctx: Context, state: string, trip: RoundTrip): void {
    const beganAtMs = this.#nowMs();
    const began: SealedTrip = { ...trip, beganAtMs };
    const sealed = this.#store.seal(ownerOf(state, browserIdOf(ctx)), JSON.stringify(began));
    if (sealed.length > MAX_SEALED_CHARS) throw new PageError('bad_request', 'A return address is too long');
    let keptChars = sealed.length;
    // The time outside the seal is used only for this sorting.
    const others = tripCookies(ctx).sort((left, right) => beganAt(right.value) - beganAt(left.value));
    for (const { name, value } of others) {
      keptChars += value.length;
      if (keptChars > MAX_KEPT_CHARS) clearTripCookie(ctx, name);
    }
    writeTripCookie(ctx, nameOf(state), `${beganAtMs}-${sealed}`, ROUND_TRIP_MS);
  }

  /**
   * The round trip that this browser returns from. @throws PageError `sign_in_lost` unless it began with the same method and
   * recently; StoreError
   */
  async find(ctx: Context, state: string, method: string): Promise<RoundTrip> {
    const trip = STATE.test(state) ? this.#open(ctx, state) : undefined;
    const isYoung = trip !== undefined && this.#nowMs() - trip.beganAtMs < ROUND_TRIP_MS;
    if (!isYoung || trip.method !== method || (await this.#store.use((redis) => redis.exists(this.#endedKey(state)))))
      throw lost(method);
    return trip;
  }

  /**
   * Ends a successful round trip; only the first return succeeds. @throws PageError `sign_in_lost` for the others;
   * StoreError
   */
  async end(ctx: Context, state: string, method: string): Promise<void> {
    const isOurs = await this.#store.use((redis) => tryAcquire(redis, this.#endedKey(state), ROUND_TRIP_MS));
    if (!isOurs) throw lost(method);
    clearTripCookie(ctx, nameOf(state));
  }

  #open(ctx: Context, state: string): SealedTrip | undefined {
    const browserId = knownBrowserId(ctx);
    const cookie = tripCookies(ctx).find(({ name }) => name === nameOf(state));
    if (browserId === undefined || cookie === undefined) return undefined;
    const sealed = cookie.value.slice(cookie.value.indexOf('-') + 1);
    return this.#store.openJson(ownerOf(state, browserId), sealed, recordWith<SealedTrip>('method', 'returnTo'));
  }

  #endedKey(state: string): string {
    return this.#store.key('round-trip-ended', sha256Hex(state));
  }
}

function nameOf(state: string): string {
  return sha256Hex(state).slice(0, NAME_CHARS);
}

function ownerOf(state: string, browserId: string): string {
  return `round-trip ${sha256Hex(state)} ${sha256Hex(browserId)}`;
}

function beganAt(value: string): number {
  return Number.parseInt(value, 10) || 0;
}

function lost(method: string): PageError {
  return new PageError('sign_in_lost', `A return from ${method} belongs to another browser, is late or was repeated`);
}
