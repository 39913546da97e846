import { Cluster } from 'ioredis';
import { asError } from '../coded-error.ts';
import { SECOND_MS } from '../clock.ts';
import { inBackground } from '../in-background.ts';
import type { Log } from '../log.ts';
import type { RedisClient } from './redis.ts';

const TRY_AGAIN_AFTER_MS = SECOND_MS;

/** Writes that a process remembers and can repeat. */
export interface WriteMemory<Offer> {
  /** Returns the writes remembered now. Later writes go to the new history. */
  recall(): Offer;
  /**
   * Restores writes that are missing in the new history and leaves existing ones unchanged. If it throws, it is called again
   * with the same offer.
   */
  bringBack(offer: Offer): Promise<void>;
}

export interface FailoverDetector {
  /** Whether a connection was lost and it is not known yet whether writes were lost with it. */
  readonly isDue: boolean;
  end(): void;
}

interface WatchOptions<Offer> {
  /** The connection that was used for the remembered writes. */
  redis: RedisClient;
  memory: WriteMemory<Offer>;
  /** For the log: the kind of data that is being restored. */
  what: string;
  log: Log;
}

/**
 * Offers the remembered writes to the new master after a failover (RELIABILITY.md failover). Does nothing until a connection
 * is lost, so it adds no cost to commands.
 */
export function detectFailover<Offer>({ redis, memory, what, log }: WatchOptions<Offer>): FailoverDetector {
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
      log.debug({ error: asError(error), what }, 'data that a failover may have lost could not be restored yet');
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
 * Id of the replication history of a Redis. A replica that was promoted with another's data has a different id. Undefined
 * for a cluster, which has several, and if Redis does not reveal it.
 */
async function historyOf(redis: RedisClient): Promise<string | undefined> {
  if (redis instanceof Cluster) return undefined;
  try {
    return /master_replid:(\w+)/.exec(await redis.info('replication'))?.[1];
  } catch (error) {
    // Without permission for INFO, every new connection counts as a failover.
    if (error instanceof Error && error.message.startsWith('NOPERM')) return undefined;
    throw error;
  }
}
