import { SECOND_MS } from '../../shared/clock.ts';
import { hashParts, hmacHex } from '../../shared/crypto/ids.ts';
import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import type { RedisClient } from '../../shared/redis/redis.ts';
import { tryOpen, tryOpenJson } from '../../shared/crypto/decrypt-record.ts';
import { withTimeout } from '../../shared/with-timeout.ts';
import { StoreError } from './sign-in-errors.ts';

/** Whatever connection was passed in, a person waits no longer than this for Redis. */
const DEADLINE_MS = 1.5 * SECOND_MS;

const PURPOSE = 'service-store';
const PSEUDONYM_PURPOSE = 'service-pseudonym';

/**
 * What the sign-in half keeps. Codes, tokens and session ids are known to it only by their hashes, and so are people where
 * they are part of a key; in values people's names are sealed.
 * All keys share one hash tag, so that scripts over several of them work on a cluster too.
 */
export class Store {
  readonly #redis: RedisClient;
  readonly #keyRing: KeyRing;

  constructor(redis: RedisClient, keyRing: KeyRing) {
    this.#redis = redis;
    this.#keyRing = keyRing;
  }

  /** The Redis key for a kind of thing and the parts that name it. */
  key(kind: string, ...parts: string[]): string {
    return ['{service}', kind, ...parts.map((part) => encodeURIComponent(part))].join(':');
  }

  /** Names people and places in keys: by a keyed hash, so that whoever reads Redis cannot try names. */
  pseudonym(...parts: string[]): string {
    return hmacHex(this.#keyRing.deriveKey(PSEUDONYM_PURPOSE), hashParts(...parts));
  }

  /** Seals a value for what it belongs to, a key of this store. */
  seal(owner: string, plain: string): string {
    return this.#keyRing.seal(PURPOSE, owner, plain);
  }

  /** Opens what `seal` made. @returns undefined when it is broken or lacks its key: people then sign in again */
  open(owner: string, sealed: string): string | undefined {
    const opened = tryOpen(() => this.#keyRing.open(PURPOSE, owner, sealed));
    return opened.kind === 'opened' ? opened.value : undefined;
  }

  /** Opens sealed JSON, as `open`. @param read as of `tryOpenJson` */
  openJson<Value>(owner: string, sealed: string, read: (value: unknown) => Value | undefined): Value | undefined {
    const opened = tryOpenJson(() => this.#keyRing.open(PURPOSE, owner, sealed), read);
    return opened.kind === 'opened' ? opened.value : undefined;
  }

  /** Runs Redis commands under the deadline. @throws StoreError */
  async use<Result>(work: (redis: RedisClient) => Promise<Result>): Promise<Result> {
    try {
      return await withTimeout(work(this.#redis), DEADLINE_MS);
    } catch (cause) {
      throw new StoreError('store_away', 'The sign-in store cannot be reached', { cause });
    }
  }
}
