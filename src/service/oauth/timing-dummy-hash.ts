import { hmacHex } from '../../shared/crypto/ids.ts';
import type { ServicePerson } from '../directory-file.ts';
import { likeButFitsNothing, UNUSABLE_PASSWORD } from './passwords.ts';

/**
 * What a typed password is compared with when nobody has the name, so that the time taken does not tell which names exist: it
 * costs what somebody's in the directory costs, for the same name always the same one's, and fits no password.
 */
export class NobodysPassword {
  readonly #stored: readonly string[];
  readonly #key: Buffer;

  /** @param key picks the one; whoever does not know it cannot tell whom */
  constructor(people: readonly ServicePerson[], key: Buffer) {
    this.#stored = people.map(({ password }) => password);
    this.#key = key;
  }

  of(username: string): string {
    const picked = this.#stored[parseInt(hmacHex(this.#key, username).slice(0, 8), 16) % this.#stored.length];
    return picked === undefined ? UNUSABLE_PASSWORD : likeButFitsNothing(picked);
  }
}
