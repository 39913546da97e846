import { DAY_MS, MINUTE_MS } from '../../shared/clock.ts';
import { inBackground } from '../../shared/in-background.ts';
import { loadScript } from '../../shared/redis/lua-script.ts';
import type { RedisClient } from '../../shared/redis/redis.ts';
import type { TurnWorker } from './turn-worker.ts';
import { shardNames } from './wake-queue.ts';

/** A receiver says its number so often. */
const SAY_SHARDS_EVERY_MS = MINUTE_MS / 4;
/** A number that nobody said for so long is in use no more. */
const IN_USE_MS = MINUTE_MS;
const NUMBERS_KEY = 'wakes:shards';
/** Far beyond any standstill of a whole deployment after which its old shards would still matter. */
const REMEMBER_MS = 30 * DAY_MS;
const noteScript = loadScript(import.meta.url, './scripts/note-shards.lua', {
  constants: { REMEMBER_MS },
  keys: ['numbers'],
  args: ['own', 'inUseMs', 'forgetAbove?'],
  answer: { used: 'number', known: 'number' },
});
const removeScript = loadScript(import.meta.url, './scripts/remove-shard.lua', {
  keys: ['wait', 'active', '...rest'],
  answer: 'flag',
});
/** What BullMQ keeps of a queue beside its jobs. */
const LEFT_OVER = ['id', 'meta', 'events', 'marker', 'stalled', 'stalled-check'];

/** Numbers of shards in a deployment of which the processes may have been told different ones. */
export interface ShardNumbers {
  /** The largest by which a process wakes now. */
  used: number;
  /** The largest of which shards may still hold something. */
  known: number;
}

/**
 * Knows by which numbers of shards the deployment's processes wake, so that a change of the number needs no standstill: workers
 * read all of them, and what an older number leaves behind is removed once it is empty.
 */
export class ShardCensus {
  readonly #redis: RedisClient;
  readonly #own: number;

  constructor(redis: RedisClient, own: number) {
    this.#redis = redis;
    this.#own = own;
  }

  /** Says this process's number. One command. @returns all processes' numbers */
  async say(): Promise<ShardNumbers> {
    return this.#note();
  }

  /** Removes the empty shards of numbers that nobody uses any more. @returns the numbers as they are then */
  async removeLeftOver({ used, known }: ShardNumbers): Promise<ShardNumbers> {
    for (let shard = used; shard < known; shard += 1) {
      const { name, prefix } = shardNames(shard);
      const keyOf = (part: string) => `${prefix}:${name}:${part}`;
      const keys = { wait: keyOf('wait'), active: keyOf('active'), rest: LEFT_OVER.map(keyOf) };
      if (!(await removeScript.run(this.#redis, keys, {}))) return { used, known };
    }
    return this.#note(used);
  }

  #note(forgetAbove?: number): Promise<ShardNumbers> {
    const args = { own: this.#own, inUseMs: IN_USE_MS, forgetAbove };
    return noteScript.run(this.#redis, { numbers: NUMBERS_KEY }, args);
  }
}

/**
 * A worker's part, repeated every few seconds: it reads the shards of processes that were told another number too, until those
 * are empty and nobody wakes by them.
 */
export async function readAllShards(census: ShardCensus, worker: Pick<TurnWorker, 'readShards'>): Promise<void> {
  const numbers = await census.say();
  worker.readShards(numbers.known);
  if (numbers.known > numbers.used) worker.readShards((await census.removeLeftOver(numbers)).known);
}

/**
 * A receiver's part: it wakes by its number, so it says it as long as it runs, and at once on a new connection.
 * @returns a function that ends it
 */
export function keepSayingShards(redis: RedisClient, shards: number): () => void {
  const census = new ShardCensus(redis, shards);
  const say = () => inBackground(() => census.say());
  redis.on('ready', say);
  const timer = setInterval(say, SAY_SHARDS_EVERY_MS);
  return () => {
    redis.off('ready', say);
    clearInterval(timer);
  };
}
