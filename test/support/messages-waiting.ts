import type { RedisClient } from '../../src/shared/redis/redis.ts';

/** Number of messages of all people that wait for an answer or are being answered. */
export async function messagesWaiting(redis: RedisClient): Promise<number> {
  const inboxes = await redis.keys('{p*}:inbox:*');
  return (await Promise.all(inboxes.map((inbox) => redis.llen(inbox)))).reduce((sum, count) => sum + count, 0);
}
