import { Queue } from 'bullmq';
import { setImmediate as endOfTurn } from 'node:timers/promises';
import type { RedisClient } from '../../shared/redis/redis.ts';
import { outsideCall } from '../../shared/fail-point.ts';
import type { Log } from '../../shared/log.ts';
import { asError, CodedError } from '../../shared/coded-error.ts';
import { SECOND_MS } from '../../shared/clock.ts';
import { settledWithin } from '../../shared/settled-within.ts';
import type { ConversationRef } from '../domain/conversation.ts';

/** Version of the wakes that this worker writes and reads. */
export const WAKE_VERSION = 1;

/** Data of a wake job: references only, no message text (SECURITY.md secrets-stay-inside, versioned-payloads). */
export interface WakeJob {
  version: typeof WAKE_VERSION;
  conversation: ConversationRef;
}

/** Error of the wake queue. `queue_away`: no shard can be reached. */
export class QueueError extends CodedError<'queue_away'> {}

const MAX_COUNT_MS = SECOND_MS;

const WAKE_JOB_NAME = 'wake';

/** A shard's BullMQ names. The prefix is a separate hash tag, so that a cluster spreads the shards. */
export function shardNames(shard: number): { name: string; prefix: string } {
  return { name: 'turns', prefix: `{wake${shard}}` };
}

/** A job and its options, as BullMQ takes them. */
function jobOf(conversation: ConversationRef) {
  return {
    name: WAKE_JOB_NAME,
    data: { version: WAKE_VERSION, conversation } satisfies WakeJob,
    opts: {
      deduplication: { id: conversation.id, keepLastIfActive: true },
      attempts: 1,
      removeOnComplete: true,
      removeOnFail: true,
    },
  };
}

/**
 * Adds each job with one command. BullMQ's `addBulk` sends the same commands, but each ioredis pipeline costs as much as adding
 * a job; the connection already writes all commands of an event-loop turn together (`cork-writes.ts`).
 */
async function addTo(queue: Queue<WakeJob>, jobs: readonly ReturnType<typeof jobOf>[]): Promise<void> {
  await Promise.all(jobs.map(({ name, data, opts }) => queue.add(name, data, opts)));
}

/** Wakes of one event-loop turn for one shard, by conversation id. */
interface WakeBatch {
  readonly conversations: Map<string, ConversationRef>;
  readonly added: Promise<void>;
}

/** Wakes conversations. At most one job per conversation waits or runs, and one more follows a running one. */
export class WakeQueue {
  readonly #shards: Queue<WakeJob>[];
  /** Indexed by shard; absent while nothing waits to be added. */
  readonly #batches: (WakeBatch | undefined)[] = [];
  readonly #counting = new Map<Queue<WakeJob>, Promise<number>>();

  /** @param redis shared with the caller, so that a wake is sent right behind the accept on the same connection */
  constructor(redis: RedisClient, shards: number, log: Log) {
    this.#shards = Array.from({ length: shards }, (_, shard) => {
      const { name, prefix } = shardNames(shard);
      const queue = new Queue<WakeJob>(name, {
        connection: redis,
        prefix,
        skipVersionCheck: true,
        skipWaitingForReady: true,
      });
      queue.on('error', (error) => log.debug({ error }, 'the wake queue reported an error'));
      return queue;
    });
  }

  /**
   * Makes a worker check the conversation after this call. Safe to repeat. The wakes of one event-loop turn are sent
   * together, one per conversation. `attempts: 1`: a job in back-off would absorb later wakes; the sweeper retries instead
   * (SECURITY.md quick-takeover).
   */
  wake(conversation: ConversationRef): Promise<void> {
    const shard = Number.parseInt(conversation.id.slice(0, 8), 16) % this.#shards.length;
    const batch = (this.#batches[shard] ??= this.#beginBatch(shard));
    batch.conversations.set(conversation.id, conversation);
    return batch.added;
  }

  #beginBatch(shard: number): WakeBatch {
    const conversations = new Map<string, ConversationRef>();
    const add = async () => {
      await endOfTurn();
      this.#batches[shard] = undefined;
      const queue = this.#shards[shard];
      if (queue) await outsideCall('queue.wake', () => addTo(queue, [...conversations.values()].map(jobOf)));
    };
    return { conversations, added: add() };
  }

  /**
   * The number of wakes that wait, over all reachable shards. One command per shard.
   * @throws QueueError if no shard can be reached
   */
  async waiting(): Promise<number> {
    const counts = await settledWithin(
      this.#shards.map((queue) => this.#countWaiting(queue)),
      MAX_COUNT_MS,
    );
    if (counts.length === 0) throw new QueueError('queue_away', 'The length of no queue shard could be read');
    return counts.reduce((sum, count) => sum + count, 0);
  }

  /** Jobs of all shards by state. @throws any error of the Redis connection */
  async jobCounts(): Promise<Record<'waiting' | 'active' | 'delayed' | 'failed', number>> {
    const counts = await Promise.all(
      this.#shards.map((queue) => queue.getJobCounts('waiting', 'active', 'delayed', 'failed')),
    );
    const sumOf = (state: string) => counts.reduce((sum, count) => sum + (count[state] ?? 0), 0);
    return { waiting: sumOf('waiting'), active: sumOf('active'), delayed: sumOf('delayed'), failed: sumOf('failed') };
  }

  /** Reuses a pending request to a shard, so that requests do not accumulate while its master is down. */
  #countWaiting(queue: Queue<WakeJob>): Promise<number> {
    const counting = this.#counting.get(queue) ?? queue.getWaitingCount().finally(() => this.#counting.delete(queue));
    this.#counting.set(queue, counting);
    return counting;
  }

  async close(): Promise<void> {
    // The wakes of this event-loop turn are sent before their queues close.
    await endOfTurn();
    await Promise.all(this.#shards.map((queue) => queue.close().catch((error: unknown) => asError(error))));
  }
}
