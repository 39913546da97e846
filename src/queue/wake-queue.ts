import { Queue } from 'bullmq';
import type { RedisClient } from '../base/redis.ts';
import { outsideCall } from '../base/fail-point.ts';
import type { Log } from '../base/log.ts';
import { asError } from '../base/coded-error.ts';
import type { ConversationRef } from '../platforms/conversation-key.ts';

/** The version of wakes that this worker writes and reads. */
export const WAKE_VERSION = 1;

/** What a wake job holds: where to look, nothing of what was said (security.md 2.5, 4.11). */
export interface WakeJob {
  version: typeof WAKE_VERSION;
  conversation: ConversationRef;
}

export const WAKE_JOB_NAME = 'wake';

/** A shard's BullMQ names. The prefix is a hash tag of its own, so that a cluster spreads the shards. */
export function shardNames(shard: number): { name: string; prefix: string } {
  return { name: 'turns', prefix: `{wake${shard}}` };
}

/** Wakes conversations: at most one job of each waits or runs, and one more follows a running one. */
export class WakeQueue {
  readonly #shards: Queue<WakeJob>[];

  /** @param redis shared with the caller, so that a wake leaves right behind the accept on the same connection */
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
   * Makes sure that a worker looks at the conversation after now. Repeating it is harmless.
   * `attempts: 1`: a job in back-off would absorb later wakes; the sweeper is what repeats (security.md 4.1).
   */
  async wake(conversation: ConversationRef): Promise<void> {
    const shard = Number.parseInt(conversation.id.slice(0, 8), 16) % this.#shards.length;
    await outsideCall('queue.wake', async () =>
      this.#shards[shard]?.add(
        WAKE_JOB_NAME,
        { version: WAKE_VERSION, conversation },
        {
          deduplication: { id: conversation.id, keepLastIfActive: true },
          attempts: 1,
          removeOnComplete: true,
          removeOnFail: true,
        },
      ),
    );
  }

  /** How many wakes wait, over all shards. One command a shard. */
  async waiting(): Promise<number> {
    const counts = await Promise.all(this.#shards.map((queue) => queue.getWaitingCount()));
    return counts.reduce((sum, count) => sum + count, 0);
  }

  async close(): Promise<void> {
    await Promise.all(this.#shards.map((queue) => queue.close().catch((error: unknown) => asError(error))));
  }
}

/** The channel on which stop words reach the worker that runs the turn. One for all: pub/sub crosses a whole cluster. */
export const STOP_CHANNEL = 'parley:stop';
