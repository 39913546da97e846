import { randomBytes } from 'node:crypto';
import type { Context } from 'koa';
import { MINUTE_MS, type NowMs } from '../../../shared/clock.ts';
import { sha256Hex } from '../../../shared/crypto/ids.ts';
import { isFirst } from '../../../shared/redis/claim-once.ts';
import { recordWith } from '../../../shared/crypto/decrypt-record.ts';
import { browserIdOf, clearTripCookie, knownBrowserId, tripCookies, writeTripCookie } from '../cookies.ts';
import { PageError } from '../sign-in-errors.ts';
import type { Store } from '../store.ts';

/** How long somebody may take on the other side (SECURITY.md one-transaction). */
const ROUND_TRIP_MS = 5 * MINUTE_MS;
const STATE = /^[0-9a-f]{64}$/;
const NAME_CHARS = 16;
/** Browsers keep 4,096 bytes of one cookie, name and all. */
const MAX_SEALED_CHARS = 3_800;
/** Of all trips of one browser, so that with them its requests stay within the 8 KiB of headers that we read. */
const MOST_KEPT_CHARS = 4_000;

/** A departure that waits for its return. */
export interface RoundTrip {
  method: string;
  /** A path of ours, for afterwards. */
  returnTo: string;
  kept?: string;
}

interface SealedTrip extends RoundTrip {
  beganAtMs: number;
}

/**
 * Browsers that are away to sign in elsewhere. Each carries its own trip, sealed for itself and its state: whoever may ask for a
 * departure, and everybody may, leaves nothing with us. Only a return that was somebody is remembered, so that it counts once.
 */
export class RoundTrips {
  readonly #store: Store;
  readonly #nowMs: NowMs;

  constructor(store: Store, nowMs: NowMs) {
    this.#store = store;
    this.#nowMs = nowMs;
  }

  /** A new state. Hex, as WeCom takes letters and digits only. */
  newState(): string {
    return randomBytes(32).toString('hex');
  }

  /** Gives the browser its trip, and takes its oldest ones away where they are too many. @throws PageError `bad_request` when it is too long to be kept */
  begin(ctx: Context, state: string, trip: RoundTrip): void {
    const beganAtMs = this.#nowMs();
    const began: SealedTrip = { ...trip, beganAtMs };
    const sealed = this.#store.seal(ownerOf(state, browserIdOf(ctx)), JSON.stringify(began));
    if (sealed.length > MAX_SEALED_CHARS) throw new PageError('bad_request', 'An address to return to is too long');
    let keptChars = sealed.length;
    // The time outside the seal serves this alone.
    const others = tripCookies(ctx).sort((left, right) => beganAt(right.value) - beganAt(left.value));
    for (const { name, value } of others) {
      keptChars += value.length;
      if (keptChars > MOST_KEPT_CHARS) clearTripCookie(ctx, name);
    }
    writeTripCookie(ctx, nameOf(state), `${beganAtMs}-${sealed}`, ROUND_TRIP_MS);
  }

  /** The trip that this browser comes back from. @throws PageError `sign_in_lost` unless it left by the same way not long ago; StoreError */
  async find(ctx: Context, state: string, method: string): Promise<RoundTrip> {
    const trip = STATE.test(state) ? this.#open(ctx, state) : undefined;
    const isYoung = trip !== undefined && this.#nowMs() - trip.beganAtMs < ROUND_TRIP_MS;
    if (!isYoung || trip.method !== method || (await this.#store.use((redis) => redis.exists(this.#endedKey(state)))))
      throw lost(method);
    return trip;
  }

  /** Ends a trip that brought somebody; of any number of returns one does. @throws PageError `sign_in_lost` for the others; StoreError */
  async end(ctx: Context, state: string, method: string): Promise<void> {
    const isOurs = await this.#store.use((redis) => isFirst(redis, this.#endedKey(state), ROUND_TRIP_MS));
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
  return new PageError('sign_in_lost', `A return by ${method} does not belong to this browser, or came late or again`);
}
