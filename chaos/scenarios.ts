import { setTimeout as pause } from 'node:timers/promises';
import { buildOlder } from './older-build.ts';
import { startChaosCluster, type ChaosCluster } from './redis-cluster.ts';
import { startRedisPair, type RedisPair } from './redis-pair.ts';
import { restartAll } from './inject-faults.ts';
import type { ChaosOptions } from './run-chaos.ts';
import type { Fault, ScheduledFault } from './schedule.ts';
import { planSlowFaults } from './slow-schedule.ts';
import { seededRandom } from '../test/support/seeded-random.ts';
import { plainInstances, type Testbed } from './testbed.ts';

/** A scenario: a single event during a load, in a deployment of a particular shape. */
export interface Scenario {
  /** Short description. */
  tells: string;
  optionsOf(ask: ScenarioAsk): Omit<ChaosOptions, 'seed' | 'killsPerMinute' | 'freezeMs'>;
}

export interface ScenarioAsk {
  seed: string;
  /** Number of waiting questions in a burst. */
  waiting: number;
  /** The commit of the older build. */
  older: string;
}

const SECOND_MS = 1_000;
const at = (atMs: number, fault: Fault): ScheduledFault => ({ atMs, fault });
const act = (atMs: number, name: string, does: (testbed: Testbed) => Promise<void>): ScheduledFault =>
  at(atMs, { kind: 'act', name, act: does });
const pairOf = ({ redis }: Testbed) => redis as RedisPair;
const clusterOf = ({ redis }: Testbed) => redis as ChaosCluster;
/** Hash tags of many partitions, of a queue shard and of keys shared by all workers. */
const MOVED_TAGS = ['{wake0}', '{isolation}', '{summaries}', ...Array.from({ length: 24 }, (_, p) => `{p${p}}`)];

/** Two concurrent answers in each of three workers, so that messages wait for minutes. */
const BACKLOG = {
  ...{ ratePerSec: 3, loadMs: 90 * SECOND_MS, users: 400, answerMs: { least: 2 * SECOND_MS, most: 5 * SECOND_MS } },
  ...{ chatFails: 'never', drainLimitMs: 400 * SECOND_MS, isHostile: true },
  instances: plainInstances(2, 3),
  settings: { WORKER_CONCURRENCY: '2', QUEUE_SOFT_AGE_SEC: '600', QUEUE_HARD_AGE_SEC: '600' },
} satisfies Partial<ChaosOptions>;

/** @param behindMs how long before its master's death the replica receives nothing more */
function failover(behindMs: number): Scenario {
  return {
    tells: `the master dies with a backlog of more than a minute; its replica is ${behindMs / SECOND_MS} s behind`,
    optionsOf: () => ({
      ...BACKLOG,
      startRedis: () => startRedisPair(0),
      faults: [
        act(75 * SECOND_MS - behindMs, 'the replica falls behind', async (testbed) =>
          pairOf(testbed).replication.breakWith({ kind: 'hold', heals: false }),
        ),
        act(75 * SECOND_MS, 'failover', (testbed) => pairOf(testbed).failOver(SECOND_MS)),
      ],
    }),
  };
}

export const SCENARIOS: Readonly<Record<string, Scenario>> = {
  failover: failover(SECOND_MS),
  'failover-far-behind': failover(60 * SECOND_MS),
  'split-brain': {
    tells:
      'the replica takes over while the master lives and demands a replica; half of the processes stay with the old one',
    optionsOf: () => ({
      ...{ ratePerSec: 5, loadMs: 40 * SECOND_MS, chatFails: 'never', drainLimitMs: 200 * SECOND_MS },
      answerMs: { least: 3 * SECOND_MS, most: 9 * SECOND_MS },
      instances: plainInstances(2, 3),
      startRedis: () => startRedisPair(1),
      faults: [
        act(15 * SECOND_MS, 'split brain', (testbed) =>
          pairOf(testbed).split(12 * SECOND_MS, (process) => /[13]$/.test(process)),
        ),
      ],
    }),
  },
  'replica-away': {
    tells: 'a write demands a replica, and the replica stands still for 15 s',
    optionsOf: () => ({
      ...{ ratePerSec: 5, loadMs: 45 * SECOND_MS, chatFails: 'never', drainLimitMs: 200 * SECOND_MS },
      answerMs: { least: 3 * SECOND_MS, most: 9 * SECOND_MS },
      instances: plainInstances(2, 3),
      startRedis: () => startRedisPair(1),
      faults: [act(12 * SECOND_MS, 'replica away', (testbed) => pairOf(testbed).freezeReplica(15 * SECOND_MS))],
    }),
  },
  cluster: {
    tells: 'in a cluster slots move, a master dies, workers die while slots move, and a master dies with its replica',
    optionsOf: () => ({
      ...{ ratePerSec: 5, loadMs: 100 * SECOND_MS, chatFails: 'never', drainLimitMs: 200 * SECOND_MS },
      answerMs: { least: 3 * SECOND_MS, most: 9 * SECOND_MS },
      instances: plainInstances(2, 3),
      startRedis: startChaosCluster,
      faults: [
        act(10 * SECOND_MS, 'slots move', (testbed) => clusterOf(testbed).reshape(MOVED_TAGS, 8 * SECOND_MS)),
        act(30 * SECOND_MS, 'a master dies', (testbed) => clusterOf(testbed).killMaster(12 * SECOND_MS)),
        act(50 * SECOND_MS, 'slots move', (testbed) => clusterOf(testbed).reshape(MOVED_TAGS, 6 * SECOND_MS)),
        at(53 * SECOND_MS, { kind: 'kill', role: 'worker' }),
        at(54 * SECOND_MS, { kind: 'kill', role: 'receiver' }),
        act(70 * SECOND_MS, 'a master dies with its replica', (testbed) =>
          clusterOf(testbed).killWithReplica(8 * SECOND_MS),
        ),
      ],
    }),
  },
  burst: {
    tells: 'thousands wait before eight workers begin; then faults are injected',
    optionsOf: ({ seed, waiting }) => {
      const ratePerSec = 60;
      const loadMs = (waiting / ratePerSec) * SECOND_MS;
      const random = seededRandom(`${seed} burst`);
      const later = planSlowFaults({ random, loadMs: 90 * SECOND_MS, faultsPerMinute: 6 });
      return {
        ...{ ratePerSec, loadMs, users: waiting, chatFails: 'never', drainLimitMs: 560 * SECOND_MS, clocksStep: true },
        instances: plainInstances(2, 8),
        settings: {
          ...{ WORKER_CONCURRENCY: '20', QUEUE_SOFT_WAITING: '100000', QUEUE_HARD_WAITING: '100000' },
          ...{ QUEUE_SOFT_AGE_SEC: '600', QUEUE_HARD_AGE_SEC: '600' },
        },
        stopLimitMs: 60 * SECOND_MS,
        faults: [
          act(0, 'no worker works', ({ instances }) => freezeWorkers(instances, loadMs)),
          ...later.map(({ atMs, fault }) => at(atMs + loadMs, fault)),
        ],
      };
    },
  },
  backup: {
    tells: 'Redis is restored from a copy of 75 s before',
    optionsOf: () => ({
      ...{ ratePerSec: 4, loadMs: 110 * SECOND_MS, chatFails: 'never', drainLimitMs: 200 * SECOND_MS },
      answerMs: { least: 2 * SECOND_MS, most: 8 * SECOND_MS },
      instances: plainInstances(2, 3),
      faults: [
        act(15 * SECOND_MS, 'copy', async ({ redis }) => redis.backUp()),
        act(90 * SECOND_MS, 'restore', ({ redis }) => redis.restore()),
      ],
    }),
  },
  versions: {
    tells: 'every process of an older build is restarted as this one, and then back, with messages waiting',
    optionsOf: ({ older }) => {
      const main = buildOlder(older);
      return {
        ...BACKLOG,
        instances: BACKLOG.instances.map((instance) => ({ ...instance, main })),
        settings: { ...BACKLOG.settings, SHUTDOWN_GRACE_SEC: '3' },
        faults: [
          act(20 * SECOND_MS, 'upgrade', async (testbed) => {
            await restartAll(testbed, { main: 'dist/main.js' });
          }),
          act(60 * SECOND_MS, 'downgrade', async (testbed) => {
            await restartAll(testbed, { main });
          }),
        ],
      };
    },
  },
  rolls: {
    tells: 'all processes are restarted in turn: with nothing new, a new key, without the old one, another group scope',
    optionsOf: () => ({
      ...{ ...BACKLOG, loadMs: 150 * SECOND_MS, ratePerSec: 2 },
      settings: { ...BACKLOG.settings, SHUTDOWN_GRACE_SEC: '3' },
      faults: (['nothing', 'new-key', 'drop-old-key', 'group-scope'] as const).map((change, index) =>
        at((5 + index * 36) * SECOND_MS, { kind: 'roll', change }),
      ),
    }),
  },
  'sign-in': {
    tells: 'people sign in while their questions are being held, on slow links',
    optionsOf: ({ seed }) => ({
      ...{ ratePerSec: 4, loadMs: 60 * SECOND_MS, chatFails: 'never', signsIn: true, drainLimitMs: 200 * SECOND_MS },
      instances: plainInstances(2, 3),
      clocksStep: true,
      faults: [
        ...(['receiver', 'worker', 'worker', 'receiver', 'worker'] as const).map((role, index) =>
          at(index * 5 * SECOND_MS, {
            ...{ kind: 'link', role, link: 'redis', forMs: 12 * SECOND_MS },
            fault: { kind: 'delay', delayMs: 100 + index * 100 },
          }),
        ),
        ...planSlowFaults({
          random: seededRandom(`${seed} sign-in`),
          loadMs: 60 * SECOND_MS,
          faultsPerMinute: 9,
        }).filter(({ fault }) => fault.kind !== 'clock' && fault.kind !== 'sleep'),
      ],
    }),
  },
};

/** All workers are frozen together, so no work is done meanwhile. */
async function freezeWorkers(instances: Testbed['instances'], forMs: number): Promise<void> {
  await pause(2 * SECOND_MS);
  await Promise.all(instances.filter(({ role }) => role === 'worker').map(({ process }) => process.freeze(forMs)));
}
