import { Queue } from 'bullmq';
import { conversationKeys } from '../domain/partition-keys.ts';
import { loadScript } from '../base/lua-script.ts';
import type { RedisClient } from '../base/redis.ts';
import { shardNames, type WakeJob } from './wake-queue.ts';

/** Ends the claim of a worker that is dead; answers whether it was that worker's. */
export const endClaimScript = loadScript(import.meta.url, './scripts/end-claim.lua', {
  keys: ['state'],
  args: ['worker'],
  answer: 'flag',
});

/**
 * Gives back at once what workers had taken that are known to be dead, as only who started them can know. Without it the
 * leases bring the same after ten seconds, and what this misses (a wake that was fetched and no turn begun) they bring too.
 * A dead process is one that the system has told the end of: never call it for one that is only silent.
 * @param names of the dead, as their `TurnStore` was told
 * @returns how many turns were given back
 */
export async function giveBackOfDead(
  names: readonly string[],
  { redis, shards }: { redis: RedisClient; shards: number },
): Promise<number> {
  if (names.length === 0) return 0;
  const counts = await Promise.all(
    Array.from({ length: shards }, (_, shard) => giveBackOfShard(names, { redis, shard })),
  );
  return counts.reduce((sum, count) => sum + count, 0);
}

async function giveBackOfShard(
  names: readonly string[],
  { redis, shard }: { redis: RedisClient; shard: number },
): Promise<number> {
  const { name, prefix } = shardNames(shard);
  const queue = new Queue<WakeJob>(name, { connection: redis, prefix, skipVersionCheck: true });
  let count = 0;
  try {
    for (const job of await queue.getActive()) {
      const keys = conversationKeys(job.data.conversation);
      const ended = await Promise.all(names.map((worker) => endClaimScript.run(redis, keys, { worker })));
      if (!ended.includes(true)) continue;
      count += 1;
      const token = await redis.get(`${prefix}:${name}:${job.id}:lock`);
      // Without a lock BullMQ's own look for stalled jobs brings it within seconds.
      if (token !== null) await job.moveToWait(token);
    }
  } finally {
    await queue.close();
  }
  return count;
}
