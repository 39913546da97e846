import { monotonicMs } from '../../shared/clock.ts';
import type { RedisClient } from '../../shared/redis/redis.ts';
import { reclaimFromDeadWorkers, turnsOfDeadWorker } from '../queue/reclaim.ts';
import { IsolationStore } from '../queue/isolation-store.ts';
import type { TurnStore } from '../queue/turn-store.ts';
import type { WakeQueue } from '../queue/wake-queue.ts';
import { keepWorkerPresence } from '../queue/worker-presence.ts';
import type { Config } from '../config/config.ts';

interface IsolationParts {
  redis: RedisClient;
  store: TurnStore;
  wakeQueue: WakeQueue;
}

/** Handles the death of other workers: takes over their turns and finds the turn that killed them. */
export function createIsolation({ redis, store: { workerName }, wakeQueue }: IsolationParts, { queue }: Config) {
  const { shards, turnMaxCrashes } = queue;
  const isolation = new IsolationStore({
    redis,
    wakeQueue,
    workerName,
    maxCrashes: turnMaxCrashes,
    turnsOf: (worker) => turnsOfDeadWorker(worker, redis, shards),
  });
  const reclaim = (names: readonly string[]) => reclaimFromDeadWorkers(names, { redis, shards, isolation });
  return {
    isolation,
    reclaim,
    /** Registers this worker and watches the others. @returns a function that ends both */
    keepPresence: () =>
      keepWorkerPresence({ redis, workerName, nowMs: monotonicMs, reclaim: (name) => reclaim([name]) }),
  };
}
