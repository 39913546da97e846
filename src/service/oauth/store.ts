import { SECOND_MS } from '../../shared/clock.ts';
import { hashParts, hmacHex } from '../../shared/crypto/ids.ts';
import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import type { RedisClient } from '../../shared/redis/redis.ts';
import { tryOpen, tryOpenJson } from '../../shared/crypto/decrypt-record.ts';
import { withTimeout } from '../../shared/with-timeout.ts';
import { StoreError } from './sign-in-errors.ts';

/** Maximum time that a person waits for Redis, whatever the connection's own limits are. */
const DEADLINE_MS = 1.5 * SECOND_MS;

const PURPOSE = 'service-store';
const PSEUDONYM_PURPOSE = 'service-pseudonym';

/**
 * Storage of the sign-in. Codes, tokens and session ids are stored only as hashes, and so are people in keys; in values,
 * people's names are sealed. All keys share one hash tag, so that scripts over several keys also work on a cluster.
 */
export class Store {
  readonly #redis: RedisClient;
  readonly #keyRing: KeyRing;

  constructor(redis: RedisClient, keyRing: KeyRing) {
    this.#redis = redis;
    this.#keyRing = keyRing;
  }

  /** The Redis key for a kind of record and the parts of its name. */
  key(kind: string, ...parts: string[]): string {
    return ['{service}', kind, ...parts.map((part) => encodeURIComponent(part))].join(':');
  }

  /** Pseudonym of a person or address for keys: a keyed hash, so that a reader of Redis cannot test names. */
  pseudonym(...parts: string[]): string {
    return hmacHex(this.#keyRing.deriveKey(PSEUDONYM_PURPOSE), hashParts(...parts));
  }

  /** Seals a value for its owner, a key of this store. */
  seal(owner: string, plain: string): string {
    return this.#keyRing.seal(PURPOSE, owner, plain);
  }

  /** Opens a value from `seal`. @returns undefined if it is broken or its key is missing; people then sign in again */
  open(owner: string, sealed: string): string | undefined {
    const opened = tryOpen(() => this.#keyRing.open(PURPOSE, owner, sealed));
    return opened.kind === 'opened' ? opened.value : undefined;
  }

  /** Opens sealed JSON, like `open`. @param read like that of `tryOpenJson` */
  openJson<Value>(owner: string, sealed: string, read: (value: unknown) => Value | undefined): Value | undefined {
    const opened = tryOpenJson(() => this.#keyRing.open(PURPOSE, owner, sealed), read);
    return opened.kind === 'opened' ? opened.value : undefined;
  }

  /** Runs Redis commands with the deadline. @throws StoreError */
  async use<Result>(work: (redis: RedisClient) => Promise<Result>): Promise<Result> {
    try {
      return await withTimeout(work(this.#redis), DEADLINE_MS);
    } catch (cause) {
      throw new StoreError('store_away', 'The database of the sign-in service cannot be reached', { cause });
    }
  }
}
