import { asError } from '../../shared/coded-error.ts';
import { SECOND_MS } from '../../shared/clock.ts';
import { loadScript } from '../../shared/redis/lua-script.ts';
import { pendingKey } from '../domain/partition-keys.ts';
import type { Log } from '../../shared/log.ts';
import type { RedisClient } from '../../shared/redis/redis.ts';
import { settledWithin } from '../../shared/settled-within.ts';
import { ALL_PARTITIONS, type ConversationRef } from '../domain/conversation.ts';
import { asConversationId, type ConversationId } from '../domain/ids.ts';
import type { QueueReport } from './queue-report.ts';
import type { WakeQueue } from './wake-queue.ts';

/**
 * A waiting conversation untouched for this long has lost its wake (a crash between accept and wake, a lost queue).
 * Milliseconds.
 */
export const SWEEP_AFTER_MS = 10 * SECOND_MS;
const SWEEP_EVERY_MS = 5 * SECOND_MS;
/**
 * All sweepers, including this one, skip a woken conversation for this long. Shorter than the minimum pause between two
 * rounds, so that the next round repeats a lost wake.
 */
const WOKEN_AGAIN_AFTER_MS = 0.8 * SWEEP_EVERY_MS;
/**
 * Maximum wakes per partition, round and process: with thousands waiting and all workers busy, sweeping must not cost more
 * than answering.
 */
const MAX_WAKES_PER_PARTITION = 10;
/** Maximum duration of a round: a master that is down never answers, and the other conversations must not wait for it. */
const MAX_ROUND_MS = 2 * SECOND_MS;
const forgottenScript = loadScript(import.meta.url, './scripts/find-stale-pending.lua', {
  keys: ['pending'],
  args: ['untouchedMs', 'limit', 'touchedAgoMs'],
  answer: 'texts',
});

export interface SweeperOptions {
  redis: RedisClient;
  wakeQueue: Pick<WakeQueue, 'wake'>;
  log: Log;
  report: QueueReport;
}

/** Periodic work that repeats what a crash may have left undone. */
export type Chore = () => Promise<unknown>;

/**
 * Wakes conversations whose messages wait without a wake, so that a crash at any moment loses no message. Every worker
 * sweeps; duplicate wakes are harmless.
 * @param chores further work for each round (releases after a sign-in); a chore that fails or hangs blocks nothing else
 * @returns a function that stops the sweeper
 */
export function startSweeper(options: SweeperOptions, chores: Chore[]): () => void {
  const sweeper = new Sweeper(options);
  const all = [() => sweeper.sweep(), ...chores].map((chore) => oneAtATime(chore, options.log));
  const tick = () => {
    for (const run of all) run();
  };
  // Spreads processes that were started together.
  const first = setTimeout(tick, Math.random() * SECOND_MS);
  const timer = setInterval(tick, SWEEP_EVERY_MS * (0.9 + Math.random() * 0.2));
  return () => {
    clearTimeout(first);
    clearInterval(timer);
  };
}

function oneAtATime(chore: Chore, log: Log): () => void {
  let isRunning = false;
  return () => {
    if (isRunning) return;
    isRunning = true;
    chore()
      .catch((error: unknown) => log.debug({ error: asError(error) }, 'a task of the sweeper failed'))
      .finally(() => (isRunning = false));
  };
}

/**
 * Reads one short range of each partition and never scans keys. Touches the conversations that it wakes, so that each is
 * woken once per interval instead of once per process. A sweeper that dies or hangs in between delays a wake by that
 * interval.
 */
export class Sweeper {
  readonly #options: SweeperOptions;
  /** Partitions with a pending request are skipped, so that requests to a dead master do not accumulate. */
  readonly #asking = new Set<number>();
  readonly #waking = new Set<string>();
  #woken = 0;
  #missed = 0;

  constructor(options: SweeperOptions) {
    this.#options = options;
  }

  /**
   * One pass over all reachable partitions.
   * @param afterMs minimum time since the last touch, by the Redis clock
   * @returns the number of woken conversations
   */
  async sweep(afterMs = SWEEP_AFTER_MS): Promise<number> {
    const { report } = this.#options;
    const free = ALL_PARTITIONS.filter((partition) => !this.#asking.has(partition));
    const swept = await settledWithin(
      free.map((partition) => this.#sweepPartition(partition, afterMs)),
      MAX_ROUND_MS,
    );
    const missed = ALL_PARTITIONS.length - swept.length;
    if (missed !== this.#missed) report.partitionsMissed({ count: missed });
    this.#missed = missed;
    const count = this.#woken;
    this.#woken = 0;
    if (count > 0) report.wakeRepeated({ count });
    return count;
  }

  async #sweepPartition(partition: number, afterMs: number): Promise<void> {
    const ids = await this.#takeForgotten(partition, afterMs);
    await Promise.all(ids.filter((id) => !this.#waking.has(id)).map((id) => this.#wake({ id, partition })));
  }

  async #takeForgotten(partition: number, afterMs: number): Promise<ConversationId[]> {
    this.#asking.add(partition);
    try {
      const touchedAgoMs = SWEEP_AFTER_MS - WOKEN_AGAIN_AFTER_MS;
      const args = { untouchedMs: afterMs, limit: MAX_WAKES_PER_PARTITION, touchedAgoMs };
      const ids = await forgottenScript.run(this.#options.redis, { pending: pendingKey(partition) }, args);
      return ids.map(asConversationId);
    } finally {
      this.#asking.delete(partition);
    }
  }

  async #wake(conversation: ConversationRef): Promise<void> {
    this.#waking.add(conversation.id);
    try {
      await this.#options.wakeQueue.wake(conversation);
      this.#woken += 1;
    } finally {
      this.#waking.delete(conversation.id);
    }
  }
}
