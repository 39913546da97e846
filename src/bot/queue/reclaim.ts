import { Queue, type Job } from 'bullmq';
import { SECOND_MS } from '../../shared/clock.ts';
import { loadScript } from '../../shared/redis/lua-script.ts';
import type { RedisClient } from '../../shared/redis/redis.ts';
import { ALL_PARTITIONS, type ConversationRef } from '../domain/conversation.ts';
import { asConversationId } from '../domain/ids.ts';
import { pendingKey, stateKeyPrefix } from '../domain/partition-keys.ts';
import { CLAIM_NAME, PART_MARK } from './claim-name.ts';
import { SILENT_CLAIM_MS } from './turn-lease.ts';
import { shardNames, type WakeJob, type WakeQueue } from './wake-queue.ts';

/** A running turn is touched at least this often, even while Redis stalls. */
const TOUCHED_WITHIN_MS = 30 * SECOND_MS;
/** Maximum conversations that are checked in a partition, the newest first. Those of running turns are among them. */
const MAX_CHECKED = 2_000;

const endClaimsScript = loadScript(import.meta.url, './scripts/end-claims.lua', {
  libraries: [CLAIM_NAME],
  constants: { PART_MARK },
  keys: ['pending'],
  args: ['statePrefix', 'touchedWithinMs', 'limit', 'unrenewedMs', '...workers'],
  answer: 'texts',
});

export interface ReclaimOptions {
  redis: RedisClient;
  shards: number;
  wakeQueue: Pick<WakeQueue, 'wake'>;
  /** `silent`: the workers may be alive, so that claims renewed within `SILENT_CLAIM_MS` are kept. Defaults to `dead`. */
  absence?: 'dead' | 'silent';
}

/**
 * Gives back the turns and wakes of workers at once. Leases would expire about ten seconds later.
 * @param names worker names as given to `TurnStore` and `TurnWorker`
 * @returns the number of turns given back
 */
export async function reclaimFromWorkers(names: readonly string[], options: ReclaimOptions): Promise<number> {
  if (names.length === 0) return 0;
  const { redis, shards, wakeQueue, absence = 'dead' } = options;
  const unrenewedMs = absence === 'silent' ? SILENT_CLAIM_MS : 0;
  const found = await Promise.all(ALL_PARTITIONS.map((partition) => endClaims(redis, partition, names, unrenewedMs)));
  const ended = new Map(found.flat().map((conversation) => [conversation.id, conversation]));
  const queues = Array.from({ length: shards }, (_, shard) => queueOf(redis, shard));
  try {
    const returned = (
      await Promise.all(queues.map((queue, shard) => returnWakes(queue, { names, ended, redis, shard })))
    ).flat();
    // Turns without a wake of the queue, such as those in quarantine.
    const others = [...ended.values()].filter(({ id }) => !returned.includes(id));
    await Promise.all(others.map((conversation) => wakeQueue.wake(conversation)));
  } finally {
    await Promise.all(queues.map((queue) => queue.close()));
  }
  return ended.size;
}

/**
 * Ends the claims of workers, or of a quarantine process, on the turns of a partition. The turns are not woken.
 * @param unrenewedMs claims that were renewed within this time are kept
 */
export async function endClaims(
  redis: RedisClient,
  partition: number,
  names: readonly string[],
  unrenewedMs = 0,
): Promise<ConversationRef[]> {
  const limits = { touchedWithinMs: TOUCHED_WITHIN_MS, limit: MAX_CHECKED, unrenewedMs };
  const args = { statePrefix: stateKeyPrefix(partition), ...limits, workers: names };
  const ids = await endClaimsScript.run(redis, { pending: pendingKey(partition) }, args);
  return ids.map((id) => ({ id: asConversationId(id), partition }));
}

function queueOf(redis: RedisClient, shard: number): Queue<WakeJob> {
  const { name, prefix } = shardNames(shard);
  return new Queue<WakeJob>(name, { connection: redis, prefix, skipVersionCheck: true });
}

/** Gives back the wakes that the workers have fetched, whether or not they have claimed the turn. @returns their conversations */
async function returnWakes(
  queue: Queue<WakeJob>,
  { names, ended, redis, shard }: ReturnOptions,
): Promise<ConversationRef['id'][]> {
  // A job that ended after it was listed has no data.
  const jobs = (await queue.getActive()).filter((job: Job<WakeJob> | undefined) => job?.data !== undefined);
  // Earlier versions do not name the worker of a job.
  const isTheirs = ({ processedBy, data }: Job<WakeJob>) =>
    processedBy === undefined ? ended.has(data.conversation.id) : names.includes(processedBy);
  const theirs = jobs.filter(isTheirs);
  const { name, prefix } = shardNames(shard);
  await Promise.all(
    theirs.map(async (job) => {
      const token = await redis.get(`${prefix}:${name}:${job.id}:lock`);
      // Without a lock, BullMQ's check for stalled jobs returns the job within seconds.
      if (token !== null) await job.moveToWait(token).catch(() => undefined);
    }),
  );
  return theirs.map(({ data }) => data.conversation.id);
}

interface ReturnOptions {
  names: readonly string[];
  ended: ReadonlyMap<string, ConversationRef>;
  redis: RedisClient;
  shard: number;
}
