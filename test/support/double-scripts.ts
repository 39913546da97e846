import type { RedisClient } from '../../src/shared/redis/redis.ts';
import { interceptScripts } from './intercept-scripts.ts';

/**
 * Makes a client send every script twice and return the second result, as after a lost response. @returns the same client
 */
export function doubleScripts(redis: RedisClient): RedisClient {
  interceptScripts(redis, async (source, args) => {
    await redis.eval(source, ...args);
    return redis.eval(source, ...args);
  });
  return redis;
}
