import type { RedisClient } from '../../src/shared/redis/redis.ts';

const TRIES = /^(.*)\.(\d+):\d+:(.*)$/;

/** Ends every delay before a new summary request. It is measured by Redis' clock, which a test cannot move. */
export async function endSummaryWaits(redis: RedisClient): Promise<void> {
  for (const key of await redis.keys('{p*}:summary:*')) {
    const kept = (await redis.get(key)) ?? '';
    await redis.set(key, kept.replace(TRIES, '$1.$2:0:$3'), 'KEEPTTL');
  }
}
