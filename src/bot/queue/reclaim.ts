import { Queue, type Job } from 'bullmq';
import { loadScript } from '../../shared/redis/lua-script.ts';
import type { RedisClient } from '../../shared/redis/redis.ts';
import { conversationKeys } from '../domain/partition-keys.ts';
import type { IsolationStore } from './isolation-store.ts';
import { shardNames, type WakeJob } from './wake-queue.ts';

/** Ends the claim of a dead worker; answers whether it was that worker's. */
export const endClaimScript = loadScript(import.meta.url, './scripts/end-claim.lua', {
  keys: ['state'],
  args: ['worker'],
  answer: 'flag',
});

export interface DeadWorkersOptions {
  redis: RedisClient;
  shards: number;
  isolation: IsolationStore;
}

/** A conversation that a dead worker had claimed, with the BullMQ job that it was working on. */
interface Abandoned {
  job: Job<WakeJob>;
  shard: number;
  worker: string;
  /** Absent where the turn only waited, so that the death does not make it a suspect. */
  turnId?: string;
}

/**
 * Gives back at once what dead workers had claimed. Leases do the same about ten seconds later, also for what this misses (a job that
 * was fetched before its turn was claimed). The death is reported before the first turn can be taken again, with all that ran.
 * @param names as their `TurnStore` was told; only of processes that are known to have ended, never of silent ones
 * @returns the number of turns that were given back
 */
export async function reclaimFromDeadWorkers(names: readonly string[], options: DeadWorkersOptions): Promise<number> {
  if (names.length === 0) return 0;
  const { redis, shards, isolation } = options;
  const queues = Array.from({ length: shards }, (_, shard) => queueOf(redis, shard));
  try {
    const found = (await Promise.all(queues.map((queue, shard) => abandonedIn(queue, shard, redis, names)))).flat();
    for (const worker of names) {
      const turns = found.flatMap((one) => (one.worker === worker && one.turnId !== undefined ? [one.turnId] : []));
      await isolation.noteDeath(worker, turns);
    }
    const given = await Promise.all(found.map((one) => giveBack(one, redis)));
    return given.filter(Boolean).length;
  } finally {
    await Promise.all(queues.map((queue) => queue.close()));
  }
}

/** What ran in a worker whose claims have run out, as far as no other worker has taken it. Turn ids. */
export async function turnsOfDeadWorker(worker: string, redis: RedisClient, shards: number): Promise<string[]> {
  const queues = Array.from({ length: shards }, (_, shard) => queueOf(redis, shard));
  try {
    const found = await Promise.all(queues.map((queue, shard) => abandonedIn(queue, shard, redis, [worker])));
    return found.flat().flatMap(({ turnId }) => turnId ?? []);
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
  // A job that ended since it was listed comes without its data.
  const jobs = (await queue.getActive()).filter((job: Job<WakeJob> | undefined) => job?.data !== undefined);
  const found = await Promise.all(
    jobs.map(async (job): Promise<Abandoned | undefined> => {
      const { state } = conversationKeys(job.data.conversation);
      const [claim, turnId, running] = await redis.hmget(state, 'claim', 'turn', 'running');
      const worker = claim?.split('.')[0] ?? '';
      if (!names.includes(worker)) return undefined;
      return { job, shard, worker, turnId: running === '1' && turnId ? turnId : undefined };
    }),
  );
  return found.filter((one) => one !== undefined);
}

async function giveBack({ job, shard, worker }: Abandoned, redis: RedisClient): Promise<boolean> {
  if (!(await endClaimScript.run(redis, conversationKeys(job.data.conversation), { worker }))) return false;
  const { name, prefix } = shardNames(shard);
  const token = await redis.get(`${prefix}:${name}:${job.id}:lock`);
  // Without a lock BullMQ's own check for stalled jobs brings it within seconds.
  if (token !== null) await job.moveToWait(token).catch(() => undefined);
  return true;
}
