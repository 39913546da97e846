import { SECOND_MS } from '../base/clock.ts';
import { loadScript } from '../base/lua-script.ts';
import { pendingKey } from '../base/partition-keys.ts';
import type { Log } from '../base/log.ts';
import type { RedisClient } from '../base/redis.ts';
import { ALL_PARTITIONS } from '../platforms/conversation-key.ts';
import type { QueueReport } from './queue-report.ts';
import type { WakeQueue } from './wake-queue.ts';

/** What has waited untouched for so long has lost its wake (a crash between accept and wake, a lost queue). Milliseconds. */
export const SWEEP_AFTER_MS = 10 * SECOND_MS;
const SWEEP_EVERY_MS = 5 * SECOND_MS;
const MOST_WOKEN_A_PARTITION = 100;
const forgottenScript = loadScript(import.meta.url, './scripts/forgotten.lua');

export interface SweeperOptions {
  redis: RedisClient;
  wakeQueue: WakeQueue;
  log: Log;
  report: QueueReport;
  /** Further work of the same kind: repeats what a crash may have left undone (releases after a sign-in). */
  alsoRepeat: (() => Promise<void>)[];
}

/**
 * Wakes conversations whose messages wait without a wake, so that no instant exists at which a crash loses a message.
 * Every worker sweeps; a wake too many is harmless. Reads one short range of each partition, never scans keys.
 * @returns a function that ends the sweeping
 */
export function startSweeper(options: SweeperOptions): () => void {
  let isRunning = false;
  const tick = async () => {
    if (isRunning) return;
    isRunning = true;
    try {
      await sweep(options);
      for (const repeat of options.alsoRepeat) await repeat();
    } catch (error) {
      options.log.debug({ error }, 'a sweep could not be finished');
    } finally {
      isRunning = false;
    }
  };
  // Spread over processes that were started together.
  const first = setTimeout(() => void tick(), Math.random() * SECOND_MS);
  const timer = setInterval(() => void tick(), SWEEP_EVERY_MS * (0.9 + Math.random() * 0.2));
  return () => {
    clearTimeout(first);
    clearInterval(timer);
  };
}

/**
 * One pass over all partitions.
 * @param afterMs so long nobody touched what is woken, by Redis' clock
 * @returns how many conversations were woken
 */
export async function sweep(
  { redis, wakeQueue, report }: Pick<SweeperOptions, 'redis' | 'wakeQueue' | 'report'>,
  afterMs = SWEEP_AFTER_MS,
): Promise<number> {
  const found = await Promise.all(
    ALL_PARTITIONS.map(async (partition) => {
      const args = [afterMs, MOST_WOKEN_A_PARTITION];
      const ids = (await forgottenScript.run(redis, [pendingKey(partition)], args)) as string[];
      return ids.map((id) => ({ id, partition }));
    }),
  );
  const conversations = found.flat();
  for (const conversation of conversations) await wakeQueue.wake(conversation);
  if (conversations.length > 0) report.wakeRepeated({ count: conversations.length });
  return conversations.length;
}
