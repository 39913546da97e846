import type { RedisClient } from '../../src/shared/redis/redis.ts';

/** How many messages of all people wait for an answer, or are being answered. */
export async function messagesWaiting(redis: RedisClient): Promise<number> {
  const inboxes = await redis.keys('{p*}:inbox:*');
  return (await Promise.all(inboxes.map((inbox) => redis.llen(inbox)))).reduce((sum, count) => sum + count, 0);
}
