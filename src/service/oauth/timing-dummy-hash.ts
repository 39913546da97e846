import type { KeyObject } from 'node:crypto';
import { hmacHex } from '../../shared/crypto/ids.ts';
import type { ServicePerson } from '../directory-file.ts';
import { unmatchableHashLike, UNUSABLE_PASSWORD } from './passwords.ts';

/**
 * Password hash to compare with for an unknown username, so that timing does not reveal which names exist. It has the cost
 * of a hash in the directory, always the same one for the same name, and matches no password.
 */
export class TimingDummyHash {
  readonly #stored: readonly string[];
  readonly #key: KeyObject;

  /** @param key selects the hash; without it the selection cannot be predicted */
  constructor(people: readonly ServicePerson[], key: KeyObject) {
    this.#stored = people.map(({ password }) => password);
    this.#key = key;
  }

  hashFor(username: string): string {
    const picked = this.#stored[parseInt(hmacHex(this.#key, username).slice(0, 8), 16) % this.#stored.length];
    return picked === undefined ? UNUSABLE_PASSWORD : unmatchableHashLike(picked);
  }
}
