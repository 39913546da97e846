import { DAY_MS, MINUTE_MS, SECOND_MS } from '../../shared/clock.ts';
import { inBackground } from '../../shared/in-background.ts';
import { loadScript } from '../../shared/redis/lua-script.ts';
import type { RedisClient } from '../../shared/redis/redis.ts';
import { settledWithin } from '../../shared/settled-within.ts';
import { processRecord, RECEIVERS_KEY } from './process-list.ts';
import type { TurnWorker } from './turn-worker.ts';
import { shardNames } from './wake-queue.ts';

/** Interval at which a receiver reports its shard count. */
const REPORT_SHARDS_EVERY_MS = MINUTE_MS / 4;
/** A shard count or receiver that was not reported for this long is no longer in use. */
const IN_USE_MS = MINUTE_MS;
/** Maximum time that a stop waits for its record to be removed. */
const LEAVE_LIMIT_MS = SECOND_MS / 4;
const NUMBERS_KEY = 'wakes:shards';
/** Much longer than any downtime of a deployment after which its old shards still matter. */
const REMEMBER_MS = 30 * DAY_MS;
const noteScript = loadScript(import.meta.url, './scripts/note-shards.lua', {
  constants: { REMEMBER_MS },
  keys: ['numbers', 'receivers'],
  args: ['own', 'inUseMs', 'forgetAbove?', 'receiver?'],
  answer: { used: 'number', known: 'number' },
});
const removeScript = loadScript(import.meta.url, './scripts/remove-shard.lua', {
  keys: ['wait', 'active', '...rest'],
  answer: 'flag',
});
/** BullMQ's keys of a queue, without those of its jobs. */
const LEFT_OVER = ['id', 'meta', 'events', 'marker', 'stalled', 'stalled-check'];

/** Shard counts of a deployment, whose processes may be configured with different ones. */
export interface ShardNumbers {
  /** The largest count that a process uses now. */
  used: number;
  /** The largest count whose shards may still hold something. */
  known: number;
}

/**
 * Tracks the shard counts of the deployment's processes, so that the count can change without downtime: workers read the
 * shards of all counts, and the shards of an older count are removed once they are empty.
 */
export class ShardRegistry {
  readonly #redis: RedisClient;
  readonly #own: number;

  constructor(redis: RedisClient, own: number) {
    this.#redis = redis;
    this.#own = own;
  }

  /**
   * Reports this process's count with one command.
   * @param receiver the record of this process, if it is a receiver
   * @returns the counts of all processes
   */
  async report(receiver?: string): Promise<ShardNumbers> {
    return this.#note({ receiver });
  }

  /** Removes empty shards of counts that are no longer in use. @returns the counts afterwards */
  async removeUnusedShards({ used, known }: ShardNumbers): Promise<ShardNumbers> {
    for (let shard = used; shard < known; shard += 1) {
      const { name, prefix } = shardNames(shard);
      const keyOf = (part: string) => `${prefix}:${name}:${part}`;
      const keys = { wait: keyOf('wait'), active: keyOf('active'), rest: LEFT_OVER.map(keyOf) };
      if (!(await removeScript.run(this.#redis, keys, {}))) return { used, known };
    }
    return this.#note({ forgetAbove: used });
  }

  #note(more: { forgetAbove?: number; receiver?: string }): Promise<ShardNumbers> {
    const args = { own: this.#own, inUseMs: IN_USE_MS, ...more };
    return noteScript.run(this.#redis, { numbers: NUMBERS_KEY, receivers: RECEIVERS_KEY }, args);
  }
}

/**
 * Makes a worker also read the shards of processes with another count, until those are empty and unused. Called every few
 * seconds.
 */
export async function readAllShards(registry: ShardRegistry, worker: Pick<TurnWorker, 'readShards'>): Promise<void> {
  const numbers = await registry.report();
  worker.readShards(numbers.known);
  if (numbers.known > numbers.used) worker.readShards((await registry.removeUnusedShards(numbers)).known);
}

/**
 * Receiver part: reports its shard count and its record while it runs, and at once on a new connection.
 * @returns a function that stops the reports and removes the record
 */
export function startShardReports(redis: RedisClient, shards: number): () => Promise<void> {
  const registry = new ShardRegistry(redis, shards);
  const record = processRecord();
  const say = () => inBackground(() => registry.report(record));
  redis.on('ready', say);
  const timer = setInterval(say, REPORT_SHARDS_EVERY_MS);
  return async () => {
    redis.off('ready', say);
    clearInterval(timer);
    // While Redis is unavailable the record remains, and expires.
    await settledWithin([redis.zrem(RECEIVERS_KEY, record)], LEAVE_LIMIT_MS);
  };
}
