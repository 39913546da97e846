import { Queue, type Job } from 'bullmq';
import { loadScript } from '../../shared/redis/lua-script.ts';
import type { RedisClient } from '../../shared/redis/redis.ts';
import { conversationKeys } from '../domain/partition-keys.ts';
import { CLAIM_NAME, workerOfClaim } from './claim-name.ts';
import { shardNames, type WakeJob } from './wake-queue.ts';

/** Ends a dead worker's claim. Answers whether the claim was that worker's. */
export const endClaimScript = loadScript(import.meta.url, './scripts/end-claim.lua', {
  libraries: [CLAIM_NAME],
  keys: ['state'],
  args: ['worker'],
  answer: 'flag',
});

export interface DeadWorkersOptions {
  redis: RedisClient;
  shards: number;
}

/** A conversation claimed by a dead worker, with the BullMQ job for it. */
interface Abandoned {
  job: Job<WakeJob>;
  shard: number;
  worker: string;
}

/**
 * Gives back dead workers' claims at once. Leases would expire about ten seconds later, and also cover what this function
 * misses (a job that was fetched before its turn was claimed).
 * @param names worker names as given to `TurnStore`; only of processes known to have ended, never of silent ones
 * @returns the number of turns given back
 */
export async function reclaimFromDeadWorkers(names: readonly string[], options: DeadWorkersOptions): Promise<number> {
  if (names.length === 0) return 0;
  const { redis, shards } = options;
  const queues = Array.from({ length: shards }, (_, shard) => queueOf(redis, shard));
  try {
    const found = (await Promise.all(queues.map((queue, shard) => abandonedIn(queue, shard, redis, names)))).flat();
    const given = await Promise.all(found.map((one) => giveBack(one, redis)));
    return given.filter(Boolean).length;
  } finally {
    await Promise.all(queues.map((queue) => queue.close()));
  }
}

function queueOf(redis: RedisClient, shard: number): Queue<WakeJob> {
  const { name, prefix } = shardNames(shard);
  return new Queue<WakeJob>(name, { connection: redis, prefix, skipVersionCheck: true });
}

async function abandonedIn(
  queue: Queue<WakeJob>,
  shard: number,
  redis: RedisClient,
  names: readonly string[],
): Promise<Abandoned[]> {
  // A job that ended after it was listed has no data.
  const jobs = (await queue.getActive()).filter((job: Job<WakeJob> | undefined) => job?.data !== undefined);
  const found = await Promise.all(
    jobs.map(async (job): Promise<Abandoned | undefined> => {
      const { state } = conversationKeys(job.data.conversation);
      const worker = workerOfClaim((await redis.hget(state, 'claim')) ?? '');
      return names.includes(worker) ? { job, shard, worker } : undefined;
    }),
  );
  return found.filter((one) => one !== undefined);
}

async function giveBack({ job, shard, worker }: Abandoned, redis: RedisClient): Promise<boolean> {
  if (!(await endClaimScript.run(redis, conversationKeys(job.data.conversation), { worker }))) return false;
  const { name, prefix } = shardNames(shard);
  const token = await redis.get(`${prefix}:${name}:${job.id}:lock`);
  // Without a lock, BullMQ's check for stalled jobs returns the job within seconds.
  if (token !== null) await job.moveToWait(token).catch(() => undefined);
  return true;
}
