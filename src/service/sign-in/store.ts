import { SECOND_MS } from '../../base/clock.ts';
import type { RedisClient } from '../../base/redis.ts';
import { StoreError } from './sign-in-errors.ts';

/** Whatever connection was passed in, a person waits no longer than this for Redis. */
const DEADLINE_MS = 1.5 * SECOND_MS;

/**
 * What the sign-in half keeps. Codes, tokens and session ids are known to it only by their hashes.
 * All keys share one hash tag, so that scripts over several of them work on a cluster too.
 */
export class Store {
  readonly #redis: RedisClient;

  constructor(redis: RedisClient) {
    this.#redis = redis;
  }

  /** The Redis key for a kind of thing and the parts that name it. */
  key(kind: string, ...parts: string[]): string {
    return ['{service}', kind, ...parts.map((part) => encodeURIComponent(part))].join(':');
  }

  /** Runs Redis commands under the deadline. @throws StoreError */
  async use<Result>(work: (redis: RedisClient) => Promise<Result>): Promise<Result> {
    let timer: NodeJS.Timeout | undefined;
    const deadline = new Promise<never>((_, reject) => {
      timer = setTimeout(reject, DEADLINE_MS, new Error('Redis did not answer in time'));
    });
    try {
      return await Promise.race([work(this.#redis), deadline]);
    } catch (cause) {
      throw new StoreError('store_away', 'The sign-in store cannot be reached', { cause });
    } finally {
      clearTimeout(timer);
    }
  }
}
