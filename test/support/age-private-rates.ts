import type { RedisClient } from '../../src/shared/redis/redis.ts';

/** Lets time go by for what people are written to unasked: it is counted by Redis' clock, which no test can move. */
export async function agePrivateRates(redis: RedisClient, byMs: number): Promise<void> {
  for (const key of await redis.keys('private-rate:*')) {
    for (const field of ['dueMs', 'heldUntilMs'])
      if (await redis.hexists(key, field)) await redis.hincrby(key, field, -Math.round(byMs));
  }
}
