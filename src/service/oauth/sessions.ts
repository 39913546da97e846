import { HOUR_MS } from '../../shared/clock.ts';
import { randomToken, sha256Hex } from '../../shared/crypto/ids.ts';
import { recordWith } from '../../shared/crypto/decrypt-record.ts';
import type { Store } from './store.ts';

export interface Session {
  username: string;
  /** Sign-in method: `password`, or the name of another method. */
  method: string;
}

export const SESSION_LIFE_MS = 8 * HOUR_MS;

/** Sessions per browser. The cookie contains a random id, Redis its hash; the person is sealed. */
export class Sessions {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /** @returns the new session's id for the cookie. @throws StoreError */
  async start(session: Session): Promise<string> {
    const id = randomToken();
    const key = this.#key(id);
    const sealed = this.#store.seal(key, JSON.stringify(session));
    await this.#store.use((redis) => redis.set(key, sealed, 'PX', SESSION_LIFE_MS));
    return id;
  }

  /** @throws StoreError */
  async find(id: string | undefined): Promise<Session | undefined> {
    if (!id) return undefined;
    const key = this.#key(id);
    const sealed = await this.#store.use((redis) => redis.get(key));
    return sealed === null ? undefined : this.#store.openJson(key, sealed, recordWith<Session>('username', 'method'));
  }

  /** @throws StoreError */
  async end(id: string | undefined): Promise<void> {
    if (id) await this.#store.use((redis) => redis.del(this.#key(id)));
  }

  #key(id: string): string {
    return this.#store.key('session', sha256Hex(id));
  }
}
