import { DAY_MS, MINUTE_MS, SECOND_MS } from '../../base/clock.ts';
import { hashParts } from '../../base/ids.ts';
import { loadScript } from '../../base/lua-script.ts';
import type { Store } from './store.ts';

const WINDOW_MS = 10 * MINUTE_MS;
const KNOWN_PLACE_MS = 30 * DAY_MS;
/** Passwords that are looked at together in one process; more would only wait for the same few threads. */
const LOOKED_AT_TOGETHER = 8;

const beginScript = loadScript(import.meta.url, './scripts/begin-login-try.lua');
const endScript = loadScript(import.meta.url, './scripts/end-login-try.lua');

/** Wrong passwords within ten minutes. */
export interface LoginLimits {
  /** From here on a wrong password of this name at this address is answered with 429; the right one still lets in. */
  told: number;
  /** From here on passwords of this name from this address are not looked at: no honest person types that many. */
  ofNameAtAddress: number;
  /** The same for the name wherever it is tried, against a guess spread over many addresses. */
  ofName: number;
  /** The same for the address whichever name is tried, against one guess for everybody. Whole institutions share an address. */
  ofAddress: number;
}

export const DEFAULT_LOGIN_LIMITS: LoginLimits = { told: 10, ofNameAtAddress: 100, ofName: 500, ofAddress: 1_000 };

/** Who is said to sign in, and from where. */
export interface LoginTry {
  username: string;
  address: string;
}

export type LoginVerdict = { isRight: true } | { isRight: false; retryAfterSec: number | undefined };

/**
 * Slows guessing down without letting guessers lock people out. Each password is counted before it is looked at, and a right
 * one takes its count back, so valid sign-ins are never throttled however many come at once. At a place where a person
 * signed in within the last 30 days, only what is tried with that name from there counts.
 */
export class LoginThrottle {
  readonly #store: Store;
  readonly #limits: LoginLimits;
  readonly #waiting: (() => void)[] = [];
  #lookedAt = 0;

  constructor(store: Store, limits: LoginLimits = DEFAULT_LOGIN_LIMITS) {
    this.#store = store;
    this.#limits = limits;
  }

  /**
   * Looks at a password unless a limit is reached.
   * @param fits compares the password
   * @returns `retryAfterSec` when the person is to be told to wait
   * @throws StoreError
   */
  async attempt(tried: LoginTry, fits: () => Promise<boolean>): Promise<LoginVerdict> {
    await this.#enter();
    try {
      return await this.#judge(tried, fits);
    } finally {
      this.#leave();
    }
  }

  async #judge(tried: LoginTry, fits: () => Promise<boolean>): Promise<LoginVerdict> {
    const { told, ofNameAtAddress, ofName, ofAddress } = this.#limits;
    const keys = this.#keys(tried);
    const begun = await this.#store.use((redis) =>
      beginScript.run(redis, keys, [ofNameAtAddress, ofName, ofAddress, WINDOW_MS]),
    );
    const [mayBeLookedAt, count, leftMs, countersInUse] = begun as [number, number, number, number];
    const retryAfterSec = Math.max(1, Math.ceil(leftMs / SECOND_MS));
    if (mayBeLookedAt !== 1) return { isRight: false, retryAfterSec };
    if (!(await fits())) return { isRight: false, retryAfterSec: count > told ? retryAfterSec : undefined };
    await this.#store.use((redis) => endScript.run(redis, keys, [countersInUse, KNOWN_PLACE_MS]));
    return { isRight: true };
  }

  #keys({ username, address }: LoginTry): string[] {
    const name = username.toLowerCase();
    return [
      this.#store.key('failed-logins', hashParts(name, address)),
      this.#store.key('failed-logins-of-name', hashParts(name)),
      this.#store.key('failed-logins-of-address', hashParts(address)),
      this.#store.key('known-place', hashParts(name, address)),
    ];
  }

  /** A count stands for a wrong password or for one that is being looked at. Few are, so that valid ones do not fill a limit. */
  async #enter(): Promise<void> {
    if (this.#lookedAt >= LOOKED_AT_TOGETHER) return new Promise((resolve) => this.#waiting.push(resolve));
    this.#lookedAt += 1;
  }

  #leave(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#lookedAt -= 1;
  }
}
