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

/** Wrong passwords within ten minutes. */
export interface LoginLimits {
  /** From here on a wrong password of this name at this address is answered with 429; the right one still lets in. */
  told: number;
  /** From here on passwords from this address are not looked at, whichever name is tried. Whole institutions share an address. */
  ofAddress: number;
  /**
   * From here on a name counts as guessed from many addresses: passwords are not looked at from those of them that were told
   * to wait, while the name's owner is let in from any other.
   */
  ofName: number;
  /** From here on passwords of this name are not looked at from a browser in which the person signed in before. */
  ofDevice: number;
}

export const DEFAULT_LOGIN_LIMITS: LoginLimits = { told: 10, ofAddress: 1_000, ofName: 1_000, ofDevice: 100 };

/** Who is said to sign in, and from where. */
export interface LoginTry {
  username: string;
  address: string;
  /** The browser's id, if this person signed in there before. */
  deviceId: string | undefined;
}

export type LoginVerdict = { isRight: true } | { isRight: false; retryAfterSec: number | undefined };

/**
 * Slows guessing down without letting guessers lock people out. Each password is counted before it is looked at, and a right
 * one takes its count back, so valid sign-ins are never throttled however many come at once. An address from which very many
 * wrong ones came is closed, except to browsers in which the person signed in before: no neighbour can close those.
 * Names that exist and names that do not are treated alike.
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
   * Looks at a password unless a limit is reached. A count stands for a wrong password or for one that is being looked at. Few
   * are, so that valid ones do not fill a limit.
   * @param fits compares the password
   * @returns `retryAfterSec` when the person is to be told to wait
   * @throws StoreError; PageError `busy`
   */
  async attempt(tried: LoginTry, fits: () => Promise<boolean>): Promise<LoginVerdict> {
    return this.#queue.run(tried.deviceId !== undefined, () => this.#judge(tried, fits));
  }

  async #judge(tried: LoginTry, fits: () => Promise<boolean>): Promise<LoginVerdict> {
    const { told, ofAddress, ofName, ofDevice } = this.#limits;
    const keys = this.#keys(tried);
    const isKnown = tried.deviceId !== undefined;
    const limits = { ownLimit: isKnown ? ofDevice : told, nameLimit: ofName, addressLimit: ofAddress };
    const { mayLook, count, leftMs } = await this.#store.use((redis) =>
      beginScript.run(redis, keys, { isKnown, ...limits, windowMs: WINDOW_MS }),
    );
    const retryAfterSec = Math.max(1, Math.ceil(leftMs / SECOND_MS));
    if (!mayLook) return { isRight: false, retryAfterSec };
    if (!(await fits())) return { isRight: false, retryAfterSec: count > told ? retryAfterSec : undefined };
    await this.#store.use((redis) => endScript.run(redis, keys, {}));
    return { isRight: true };
  }

  #keys({ username, address, deviceId }: LoginTry): Record<'own' | 'ofName' | 'ofAddress', string> {
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
