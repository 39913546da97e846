import type { RedisClient } from '../../src/base/redis.ts';

/** Has a client send every script twice and give the second answer, as after a lost first one. @returns the same client */
export function doubleScripts(redis: RedisClient): RedisClient {
  for (const name of ['evalsha', 'eval'] as const) {
    const once = redis[name].bind(redis) as (...args: unknown[]) => Promise<unknown>;
    Object.assign(redis, { [name]: (...args: unknown[]) => once(...args).then(() => once(...args)) });
  }
  return redis;
}
