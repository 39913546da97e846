import type { RedisClient } from '../../src/shared/redis/redis.ts';

/**
 * Makes every waiting message older, and untouched for longer. Ages are measured by Redis' clock
 * (RELIABILITY.md wrong-clocks), which a test cannot move, so this moves the stored timestamps.
 */
export async function ageMessages(redis: RedisClient, byMs: number): Promise<void> {
  const lists = [...(await redis.keys('{p*}:inbox:*')), ...(await redis.keys('{p*}:held:*'))];
  for (const key of lists) {
    for (const [index, entry] of (await redis.lrange(key, 0, -1)).entries()) {
      const [id = '', merge = '', atMs = '', ...rest] = entry.split(':');
      await redis.lset(key, index, [id, merge, String(Number(atMs) - byMs), ...rest].join(':'));
    }
  }
  await ageTouches(redis, byMs);
  for (const key of await redis.keys('{p*}:message:*')) {
    if ((await redis.hexists(key, 'atMs')) === 1) await redis.hincrby(key, 'atMs', -byMs);
  }
}

/** Makes every conversation untouched for longer, so that the sweeper wakes it. */
export async function ageTouches(redis: RedisClient, byMs: number): Promise<void> {
  for (const key of await redis.keys('{p*}:pending')) {
    for (const id of await redis.zrange(key, '0', '-1')) await redis.zincrby(key, -byMs, id);
  }
}
