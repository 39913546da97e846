import type { RedisClient } from '../../src/shared/redis/redis.ts';

/**
 * Makes a client send every script twice and return the second result, as after a lost response. @returns the same client
 */
export function doubleScripts(redis: RedisClient): RedisClient {
  const define = redis.defineCommand.bind(redis);
  redis.defineCommand = (name, definition) => {
    define(name, definition);
    const commands = redis as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>;
    const once = commands[name]?.bind(redis);
    commands[name] = async (...args) => once?.(...args).then(() => once(...args));
  };
  return redis;
}
