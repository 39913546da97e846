import type { RedisClient } from '../../src/shared/redis/redis.ts';

/** Changes the encrypted bytes of a list's newest entry, like a broken disk or an intruder; its key id stays. */
export async function alterEntry(redis: RedisClient, list: string): Promise<void> {
  const [entry = ''] = await redis.lrange(list, -1, -1);
  const at = entry.length - 20;
  const altered = entry[at] === 'A' ? 'B' : 'A';
  await redis.lset(list, -1, entry.slice(0, at) + altered + entry.slice(at + 1));
}
