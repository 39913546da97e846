import { monotonicMs, SECOND_MS } from '../../shared/clock.ts';
import type { RedisClient } from '../../shared/redis/redis.ts';
import { createBase, type BotOptions } from './base.ts';
import type { Platform } from '../platforms/platform.ts';
import type { PlatformName } from '../domain/platform-name.ts';
import { createQuarantine } from './quarantine.ts';
import type { MetricsJson } from './worker-process/worker-messages.ts';
import { ProcessMetrics } from './worker-process/process-metrics.ts';
import type { PressureLimits } from '../queue/queue-pressure.ts';
import type { QuarantineOptions } from '../queue/quarantine.ts';
import { Canary, commitCanary, isCanary } from '../queue/canary.ts';
import { readAllShards, ShardRegistry } from '../queue/shard-registry.ts';
import { startSweeper } from '../queue/sweeper.ts';
import { TurnWorker } from '../queue/turn-worker.ts';
import type { Config } from '../config/config.ts';
import type { ConversationRef } from '../domain/conversation.ts';
import { DeferredReconciliation } from '../reply/deferred-reconciliation.ts';
import { createAuditChores } from './audit.ts';
import { TurnAudit } from '../audit/turn-audit.ts';
import { createSignIn, releaseIfLinked, repeatReleases, startRechecks, watchForLostLinks } from './sign-in.ts';
import { FollowUps } from '../reply/follow-ups/follow-ups.ts';
import { createTurnRunner } from './turn-runner.ts';
import { turnsGraceSec } from './shutdown-timeout.ts';
import { reclaimFromWorkers, type ReclaimOptions } from '../queue/reclaim.ts';
import { keepWorkerPresence } from '../queue/worker-presence.ts';

export interface WorkerPart {
  worker: TurnWorker;
  /** Undefined if CANARY_SEC is 0, and in quarantine. */
  canary: Canary | undefined;
  redis: RedisClient;
  platforms: ReadonlyMap<PlatformName, Platform>;
  /** Takes over the turns of workers known to be dead at once. @returns how many turns */
  reclaimFromDeadWorkers(names: readonly string[]): Promise<number>;
  /** What its quarantine processes have counted. */
  quarantineCounts(): Promise<MetricsJson>;
  /**
   * Reads policy, scenes, tools, models, knowledge and prompt again. @returns a function that applies them to later turns.
   * @throws ConfigFileError
   */
  reread(): Promise<() => void>;
  close(graceSec: number): Promise<void>;
}

/** Runs turns. Its store waits for Redis as long as necessary. */
export function createWorkerPart(options: BotOptions): WorkerPart {
  const { config, nowMs, log } = options;
  const base = createBase(options, 'wait');
  const { redis, keyRing, platforms, store, wakeQueue, listedModels } = base;
  const audit = config.audit.isOn ? new TurnAudit(keyRing, nowMs) : undefined;
  const report = audit ? audit.listen(options.report) : options.report;
  const identity = createSignIn(options, base);
  const endLinkWatch = watchForLostLinks(base, identity, log);
  const reconciliation = new DeferredReconciliation({ redis, keyRing, platforms, log });
  const followUps = new FollowUps({ redis, keyRing, platforms, log, report });
  const turns = createTurnRunner({ ...options, identity, reconciliation, report }, base);
  const isQuarantine = options.quarantine !== undefined;
  const metrics = new ProcessMetrics();
  const takeGuilty = (one: ConversationRef) => worker.runNow(one);
  const takeBack: QuarantineOptions['takeBack'] = (turn) => worker.takeBack(turn);
  const { workerName } = store;
  const needs = { workerName, takeGuilty, takeBack, searchLocal: turns.searchLocal, metrics };
  const quarantine = isQuarantine ? undefined : createQuarantine(options, base, needs);
  const worker: TurnWorker = new TurnWorker({
    redis,
    store,
    quarantine,
    wakeQueue,
    limits: {
      shards: isQuarantine ? 0 : config.queue.shards,
      concurrency: config.queue.workerConcurrency,
      maxCrashes: config.queue.turnMaxCrashes,
      pressure: pressureLimits(config),
    },
    steps: {
      async runTurn(context) {
        if (isCanary(context.claim)) {
          report.canaryClaimed({ waitedMs: context.claim.newestAgeMs });
          return commitCanary(context.claim);
        }
        return audit ? audit.record(context.claim, () => turns.run(context)) : turns.run(context);
      },
      apologise: audit ? (claim) => audit.record(claim, () => turns.apologise(claim)) : turns.apologise,
      onHeld: async (claim) => (identity ? releaseIfLinked(base, identity, claim) : 0),
      deliverFollowUps: (partition) => followUps.wake(partition),
    },
    nowMs,
    log,
    report,
  });
  const shardRegistry = new ShardRegistry(redis, config.queue.shards);
  const auditChores = createAuditChores({ config, redis, keyRing, nowMs, log });
  const chores = [
    () => readAllShards(shardRegistry, worker),
    () => followUps.repeat(),
    () => reconciliation.runDue(),
    ...auditChores.chores,
    ...(identity ? [repeatReleases(base, identity)] : []),
  ];
  const reclaim = (names: readonly string[], absence?: ReclaimOptions['absence']) =>
    reclaimFromWorkers(names, { redis, shards: config.queue.shards, wakeQueue, absence });
  // The parent of a quarantine process does these for it.
  const duties = isQuarantine
    ? undefined
    : {
        endSweeper: startSweeper({ redis, wakeQueue, log, report }, chores),
        endPresence: keepWorkerPresence({
          ...{ redis, workerName, workload: () => worker.workload, nowMs: monotonicMs },
          reclaim: (name, absence) => reclaim([name], absence),
        }),
        endRechecks: identity ? startRechecks(identity, log) : () => undefined,
      };
  const everyMs = config.queue.canarySec * SECOND_MS;
  const isBusy = () => worker.isFull;
  const canary =
    isQuarantine || everyMs === 0
      ? undefined
      : new Canary({ redis, keyRing, wakeQueue, workerName, everyMs, isBusy, monotonicMs, log, report });
  return {
    worker,
    canary,
    redis,
    platforms,
    reread: turns.reread,
    reclaimFromDeadWorkers: (names) => reclaim(names),
    quarantineCounts: () => metrics.sum(),
    async close(graceSec) {
      canary?.stop();
      duties?.endSweeper();
      duties?.endRechecks();
      endLinkWatch();
      const turnsMs = turnsGraceSec(graceSec) * SECOND_MS;
      await Promise.all([worker.close(turnsMs), turns.endSummaries()]);
      await duties?.endPresence();
      await auditChores.close();
      await followUps.close();
      listedModels.close();
      await wakeQueue.close();
      await turns.close();
      redis.disconnect();
    },
  };
}

function pressureLimits({ queue }: Config): PressureLimits {
  const { softWaiting, hardWaiting, softAgeSec, hardAgeSec } = queue;
  return { softWaiting, hardWaiting, softAgeMs: softAgeSec * SECOND_MS, hardAgeMs: hardAgeSec * SECOND_MS };
}
