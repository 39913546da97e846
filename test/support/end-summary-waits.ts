import type { RedisClient } from '../../src/shared/redis/redis.ts';

const TRIES = /^(.*)\.(\d+):\d+:(.*)$/;

/** Has every wait for another try of a summary be over. It is counted by Redis' clock, which no test can move. */
export async function endSummaryWaits(redis: RedisClient): Promise<void> {
  for (const key of await redis.keys('{p*}:summary:*')) {
    const kept = (await redis.get(key)) ?? '';
    await redis.set(key, kept.replace(TRIES, '$1.$2:0:$3'), 'KEEPTTL');
  }
}
