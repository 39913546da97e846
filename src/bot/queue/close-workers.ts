import type { Worker } from 'bullmq';
import { setTimeout as pause } from 'node:timers/promises';
import { SECOND_MS } from '../../shared/clock.ts';
import type { RedisClient } from '../../shared/redis/redis.ts';

/** Time for BullMQ to close in order, in addition to the time for its jobs. */
const FORCED_CLOSE_AFTER_MS = 3 * SECOND_MS;

export interface CloseWorkers {
  /** The workers' connection. */
  redis: RedisClient;
  /**
   * Whether running jobs must end in order. Without running jobs and with Redis unavailable, the workers are closed by
   * force.
   */
  hasJobs: boolean;
  /** How long jobs may take until the caller aborts them. */
  jobsMs: number;
}

/**
 * Closes BullMQ workers in order, or by force when Redis is unavailable: BullMQ would wait for a connection that does not
 * exist, but a stop must end within its grace period (SECURITY.md orderly-stop). Nothing is lost: unfinished work remains in
 * Redis, and its lock expires.
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
    // Redis may become unavailable while the workers close.
    pause(jobsMs + FORCED_CLOSE_AFTER_MS, undefined, { ref: false, signal: limit.signal }).catch(() => undefined),
  ]);
  limit.abort();
}
