import { Cluster } from 'ioredis';
import { asError } from '../coded-error.ts';
import { SECOND_MS } from '../clock.ts';
import { inBackground } from '../in-background.ts';
import type { Log } from '../log.ts';
import type { RedisClient } from './redis.ts';

const TRY_AGAIN_AFTER_MS = SECOND_MS;

/** What a process has had Redis write, and can have it write again. */
export interface WriteMemory<Offer> {
  /** What is remembered now. What is written later stands in the new history already. */
  recall(): Offer;
  /** Brings about what the new history lacks; what it has stays. Called again with the same offer when it throws. */
  bringBack(offer: Offer): Promise<void>;
}

export interface HistoryWatch {
  /** Whether a connection was lost, and it is not yet known that nothing was lost with it. */
  readonly isDue: boolean;
  end(): void;
}

interface WatchOptions<Offer> {
  /** The connection over which the remembered writes went. */
  redis: RedisClient;
  memory: WriteMemory<Offer>;
  /** Words for the log: what could not be brought back yet. */
  what: string;
  log: Log;
}

/**
 * After a failover, offers what this process remembers to the new master (RELIABILITY.md failover).
 * Works only when a connection was lost: nothing of it lies in the way of a command.
 */
export function watchHistory<Offer>({ redis, memory, what, log }: WatchOptions<Offer>): HistoryWatch {
  let history: string | undefined;
  let offer: { remembered: Offer } | undefined;
  let isRunning = false;
  let isEnded = false;
  let timer: NodeJS.Timeout | undefined;

  const run = async () => {
    if (isRunning || isEnded) return;
    isRunning = true;
    try {
      const found = await historyOf(redis);
      if (offer && (found === undefined || found !== history)) await memory.bringBack(offer.remembered);
      history = found;
      offer = undefined;
    } catch (error) {
      log.debug({ error: asError(error), what }, 'what a failover may have lost could not be brought back yet');
      timer = setTimeout(() => inBackground(run), TRY_AGAIN_AFTER_MS).unref();
    } finally {
      isRunning = false;
    }
  };
  const remember = () => void (offer ??= { remembered: memory.recall() });
  const start = () => {
    clearTimeout(timer);
    inBackground(run);
  };
  const lost = () => {
    remember();
    start();
  };
  if (redis instanceof Cluster) redis.on('-node', lost);
  else redis.on('close', remember).on('ready', start);
  return {
    get isDue() {
      return offer !== undefined;
    },
    end() {
      isEnded = true;
      clearTimeout(timer);
      redis.off('-node', lost).off('close', remember).off('ready', start);
    },
  };
}

/**
 * Names the history of writes that a Redis stands for. Another one, or the same one that took over another's data, has
 * another name. Undefined for a cluster, which has many, and where it is not told.
 */
async function historyOf(redis: RedisClient): Promise<string | undefined> {
  if (redis instanceof Cluster) return undefined;
  try {
    return /master_replid:(\w+)/.exec(await redis.info('replication'))?.[1];
  } catch (error) {
    // Where INFO is not allowed, every new connection counts as a failover.
    if (error instanceof Error && error.message.startsWith('NOPERM')) return undefined;
    throw error;
  }
}
