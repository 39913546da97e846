import { MINUTE_MS, SECOND_MS, type NowMs } from '../../../shared/clock.ts';
import { asError } from '../../../shared/coded-error.ts';
import type { Log } from '../../../shared/log.ts';

export interface StoredToken {
  token: string;
  expiresAtMs: number;
}

/** Shares the app's access token between the processes of a deployment; stores it sealed. */
export interface AccessTokenStore {
  read(key: string): Promise<StoredToken | undefined>;
  write(key: string, value: StoredToken): Promise<void>;
}

interface AccessTokenOptions {
  /** Key in the store; each app has its own token. */
  key: string;
  store: AccessTokenStore;
  /** Requests a token from the platform, which also returns its lifetime as `expiresInSec`. */
  fetchToken(): Promise<{ token: string; expiresInSec: number }>;
  nowMs: NowMs;
  log: Log;
}

/** A token is renewed this long before it expires, or after four fifths of its lifetime, whichever is later. */
const RENEW_BEFORE_MS = 5 * MINUTE_MS;

/**
 * The app's access token: from memory, else from the store, else from the platform. At most one fetch at a time per process.
 */
export class AccessToken {
  readonly #options: AccessTokenOptions;
  #current: StoredToken | undefined;
  #fetching: Promise<string> | undefined;

  constructor(options: AccessTokenOptions) {
    this.#options = options;
  }

  /** @param refused a token that the platform has refused; it is not returned again. @throws PlatformError */
  async get(refused?: string): Promise<string> {
    if (this.#isFresh(this.#current, refused)) return this.#current.token;
    this.#fetching ??= this.#renew(refused).finally(() => (this.#fetching = undefined));
    return this.#fetching;
  }

  async #renew(refused: string | undefined): Promise<string> {
    const { key, store, fetchToken, nowMs, log } = this.#options;
    try {
      const stored = await store.read(key);
      if (this.#isFresh(stored, refused)) return this.#keep(stored);
    } catch (error) {
      log.warn({ error: asError(error) }, 'the shared access token could not be read');
    }
    const { token, expiresInSec } = await fetchToken();
    const lifeMs = expiresInSec * SECOND_MS;
    const fresh = { token, expiresAtMs: nowMs() + lifeMs - Math.min(RENEW_BEFORE_MS, lifeMs / 5) };
    // Without the store each process fetches its own token, which the platform allows.
    await store.write(key, fresh).catch((error: unknown) => {
      log.warn({ error: asError(error) }, 'the access token could not be shared');
    });
    return this.#keep(fresh);
  }

  #keep(token: StoredToken): string {
    this.#current = token;
    return token.token;
  }

  #isFresh(token: StoredToken | undefined, refused: string | undefined): token is StoredToken {
    return token !== undefined && token.token !== refused && token.expiresAtMs > this.#options.nowMs();
  }
}
