import { DAY_MS, type NowMs } from '../../shared/clock.ts';
import { hashParts } from '../../shared/crypto/ids.ts';
import type { Store } from './store.ts';

/** An application that a person has allowed to see their profile. */
export interface GivenConsent {
  clientId: string;
  scope: string;
  givenAtMs: number;
  /** The person chose not to be asked again. */
  isRemembered: boolean;
}

const CONSENT_RETENTION_MS = 180 * DAY_MS;

/** Each person's consents, the latest decision per application. */
export class Consents {
  readonly #store: Store;
  readonly #nowMs: NowMs;

  constructor(store: Store, nowMs: NowMs) {
    this.#store = store;
    this.#nowMs = nowMs;
  }

  /** @throws StoreError */
  async give(username: string, consent: { clientId: string; scope: string; isRemembered: boolean }): Promise<void> {
    const given: GivenConsent = { ...consent, givenAtMs: this.#nowMs() };
    const key = this.#key(username);
    await this.#store.use((redis) =>
      redis.multi().hset(key, consent.clientId, JSON.stringify(given)).pexpire(key, CONSENT_RETENTION_MS).exec(),
    );
  }

  /** Whether this person need not be asked again about this application and scope. @throws StoreError */
  async isRemembered(username: string, clientId: string, scope: string): Promise<boolean> {
    const stored = await this.#store.use((redis) => redis.hget(this.#key(username), clientId));
    if (stored === null) return false;
    const given = JSON.parse(stored) as GivenConsent;
    return given.isRemembered && given.scope === scope;
  }

  /** Newest first. @throws StoreError */
  async list(username: string): Promise<GivenConsent[]> {
    const stored = await this.#store.use((redis) => redis.hvals(this.#key(username)));
    return stored
      .map((text) => JSON.parse(text) as GivenConsent)
      .sort((left, right) => right.givenAtMs - left.givenAtMs);
  }

  /** @throws StoreError */
  async withdraw(username: string, clientId: string): Promise<void> {
    await this.#store.use((redis) => redis.hdel(this.#key(username), clientId));
  }

  #key(username: string): string {
    return this.#store.key('consents', hashParts(username));
  }
}
