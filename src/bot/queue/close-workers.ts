import type { Worker } from 'bullmq';
import { setTimeout as pause } from 'node:timers/promises';
import { SECOND_MS } from '../../shared/clock.ts';
import type { RedisClient } from '../../shared/redis/redis.ts';

/** What BullMQ gets to close in order, on top of what its jobs are given. */
const FORCED_CLOSE_AFTER_MS = 3 * SECOND_MS;

export interface CloseWorkers {
  /** The connection that the workers were given. */
  redis: RedisClient;
  /** Whether jobs run that are to end in order; none are waited for where Redis is away and nothing runs. */
  hasJobs: boolean;
  /** How long jobs may take before they are told to end, which is the caller's affair. */
  jobsMs: number;
}

/**
 * Closes workers of BullMQ in order, and by force where Redis is away: BullMQ would wait for the end of a connection that has
 * none, and a stop must end within its grace time all the same (SECURITY.md orderly-stop). Nothing is lost by it: what was unfinished
 * stands in Redis, and its lock runs out.
 */
export async function closeWorkers(
  workers: readonly Worker[],
  { redis, hasJobs, jobsMs }: CloseWorkers,
): Promise<void> {
  const isForced = !hasJobs && redis.status !== 'ready';
  const closing = Promise.all(workers.map((worker) => worker.close(isForced)));
  const limit = new AbortController();
  await Promise.race([
    closing,
    // Redis may go while it closes.
    pause(jobsMs + FORCED_CLOSE_AFTER_MS, undefined, { ref: false, signal: limit.signal }).catch(() => undefined),
  ]);
  limit.abort();
}
