import type { RedisClient } from '../../src/shared/redis/redis.ts';

/**
 * Advances the rate limit of private messages that the bot sends first. It is measured by Redis' clock, which a test cannot
 * move.
 */
export async function agePrivateRates(redis: RedisClient, byMs: number): Promise<void> {
  for (const key of await redis.keys('private-rate:*')) {
    for (const field of ['dueMs', 'heldUntilMs'])
      if (await redis.hexists(key, field)) await redis.hincrby(key, field, -Math.round(byMs));
  }
}
