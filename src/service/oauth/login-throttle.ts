import { MINUTE_MS, SECOND_MS } from '../../shared/clock.ts';
import { loadScript } from '../../shared/redis/lua-script.ts';
import { LoginQueue } from './login-queue.ts';
import type { Store } from './store.ts';

const WINDOW_MS = 10 * MINUTE_MS;

const beginScript = loadScript(import.meta.url, './scripts/begin-login-try.lua', {
  keys: ['own', 'ofName', 'ofAddress'],
  args: ['isKnown', 'ownLimit', 'nameLimit', 'addressLimit', 'windowMs'],
  answer: { mayLook: 'flag', count: 'number', leftMs: 'number' },
});
const endScript = loadScript(import.meta.url, './scripts/end-login-try.lua', {
  keys: ['own', 'ofName', 'ofAddress'],
});

/** Numbers of wrong passwords within ten minutes. */
export interface LoginLimits {
  /** Above it, a wrong password for this name at this address is answered with 429; the correct one is still accepted. */
  ofNameAtAddress: number;
  /** Above it, passwords from this address are not checked for any name. Whole institutions share an address. */
  ofAddress: number;
  /**
   * Above it, a name counts as guessed from many addresses: passwords are not checked from addresses that were told to wait,
   * while the name's owner can sign in from any other.
   */
  ofName: number;
  /** Above it, passwords for this name are not checked from a browser in which the person has signed in before. */
  ofDevice: number;
}

export const DEFAULT_LOGIN_LIMITS: LoginLimits = {
  ofNameAtAddress: 10,
  ofAddress: 1_000,
  ofName: 1_000,
  ofDevice: 100,
};

/** A login attempt: the name, and where it comes from. */
export interface LoginAttempt {
  username: string;
  address: string;
  /** The browser's id, if this person has signed in there before. */
  deviceId: string | undefined;
}

export type LoginVerdict = { isRight: true } | { isRight: false; retryAfterSec: number | undefined };

/**
 * Slows down guessing without locking people out. Each password is counted before it is checked, and a correct one takes its
 * count back, so valid sign-ins are never throttled, however many arrive at once. An address with very many wrong passwords
 * is blocked, except for browsers in which the person has signed in before, so that other users of the address cannot lock
 * them out. Existing and unknown names are treated alike.
 */
export class LoginThrottle {
  readonly #store: Store;
  readonly #limits: LoginLimits;
  readonly #queue: LoginQueue;

  constructor(store: Store, limits: LoginLimits = DEFAULT_LOGIN_LIMITS, queue = new LoginQueue()) {
    this.#store = store;
    this.#limits = limits;
    this.#queue = queue;
  }

  /**
   * Checks a password unless a limit is reached. The count includes wrong passwords and those being checked; few are checked
   * at once, so valid ones do not reach a limit.
   * @param fits compares the password
   * @returns `retryAfterSec` if the person must wait
   * @throws StoreError; PageError `busy`
   */
  async attempt(tried: LoginAttempt, fits: () => Promise<boolean>): Promise<LoginVerdict> {
    return this.#queue.run(tried.deviceId !== undefined, () => this.#judge(tried, fits));
  }

  async #judge(tried: LoginAttempt, fits: () => Promise<boolean>): Promise<LoginVerdict> {
    const { ofNameAtAddress, ofAddress, ofName, ofDevice } = this.#limits;
    const keys = this.#keys(tried);
    const isKnown = tried.deviceId !== undefined;
    const limits = { ownLimit: isKnown ? ofDevice : ofNameAtAddress, nameLimit: ofName, addressLimit: ofAddress };
    const { mayLook, count, leftMs } = await this.#store.use((redis) =>
      beginScript.run(redis, keys, { isKnown, ...limits, windowMs: WINDOW_MS }),
    );
    const retryAfterSec = Math.max(1, Math.ceil(leftMs / SECOND_MS));
    if (!mayLook) return { isRight: false, retryAfterSec };
    if (!(await fits())) return { isRight: false, retryAfterSec: count > ofNameAtAddress ? retryAfterSec : undefined };
    await this.#store.use((redis) => endScript.run(redis, keys, {}));
    return { isRight: true };
  }

  #keys({ username, address, deviceId }: LoginAttempt): Record<'own' | 'ofName' | 'ofAddress', string> {
    const name = username.toLowerCase();
    const own =
      deviceId === undefined
        ? this.#store.key('failed-logins', this.#store.pseudonym(name, address))
        : this.#store.key('failed-logins-of-device', this.#store.pseudonym(name, deviceId));
    return {
      own,
      ofName: this.#store.key('failed-logins-of-name', this.#store.pseudonym(name)),
      ofAddress: this.#store.key('failed-logins-of-address', this.#store.pseudonym(address)),
    };
  }
}
