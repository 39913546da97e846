import type { Ledger } from './ledger.ts';
import { runChaos, type ChaosRun } from './run-chaos.ts';
import { plainInstances, type InstancePlan } from './testbed.ts';

/** Every call to the outside on a message's way, by the process that makes it (RELIABILITY.md crash-between-post-and-record). */
const CALLS = {
  receiver: ['redis.accept', 'queue.wake', 'redis.poll'],
  worker: [
    'redis.claim',
    'chat.completions',
    'redis.show',
    'redis.post',
    'slack.chat.startStream',
    'slack.chat.appendStream',
    'slack.chat.stopStream',
    'redis.commit',
  ],
  /** Made by each worker at its start, whatever comes in. */
  sweeper: ['redis.find-stale-pending'],
  /** Made only for an answer that another worker began. */
  successor: ['slack.auth.test', 'slack.conversations.replies', 'slack.chat.update'],
  /** Made only for a turn in which two workers have died. */
  thirdTaker: ['redis.mark-turn'],
  /** Made only for a question that comes with a file. */
  reader: ['slack.files.info', 'files.fetch', 'files.read', 'redis.keep-media'],
} as const;

/** A worker that dies in each of its lives as soon as it comes there, so that others find what it left. */
const feederAt = (place: string): InstancePlan => ({ role: 'worker', failPoint: { place, lives: 1_000 } });
/** Begins answers and dies before anybody knows of it, so that successors have something to look for. */
const BEGINNER = feederAt('slack.chat.startStream:after');
/** Dies of whatever it takes. Two beside few others are enough for many turns that meet both, or one of them twice. */
const TAKER = feederAt('redis.claim:after');
const FEEDERS = new Set([BEGINNER, TAKER]);
const MOST_AT_ONCE = 8;
/** Of the questions on Slack, where files are read at all: each process that reads them is one more. */
const FILES_ONE_IN = 4;

/** Processes that are armed together, with what else they need. */
export type Wave = readonly InstancePlan[];

/** The points at which a promise is nearest to being broken: right before and after what cannot be taken back. */
export function keenWave(): Wave {
  const places = [
    'slack.chat.startStream:after',
    'slack.chat.stopStream:before',
    'slack.chat.stopStream:after',
    'redis.post:after',
    'redis.commit:before',
    'redis.commit:after',
  ];
  const workers = places.map((place): InstancePlan => ({ role: 'worker', failPoint: { place, lives: 1 } }));
  return [
    ...plainInstances(1, 1),
    { role: 'receiver', failPoint: { place: 'redis.accept:after', lives: 1 } },
    ...workers,
  ];
}

const arm = (role: InstancePlan['role'], calls: readonly string[], lives: number) =>
  calls
    .flatMap((call) => [`${call}:before`, `${call}:after`])
    .map((place): InstancePlan => ({ role, failPoint: { place, lives } }));

/** Workers that die on the way of a file. @param lives how often each point is to be reached */
export function filesWave(lives: number): Wave {
  return [...plainInstances(1, 1), ...arm('worker', CALLS.reader, lives)];
}

/** All fail points in waves of a few processes, so that a small machine holds them. @param lives how often each is to be reached */
export function allWaves(lives: number): Wave[] {
  const workers = arm('worker', CALLS.worker, lives);
  const waves: Wave[] = [
    [...plainInstances(1, 2), ...arm('receiver', CALLS.receiver, lives), ...arm('worker', CALLS.sweeper, lives)],
  ];
  for (let from = 0; from < workers.length; from += MOST_AT_ONCE)
    waves.push([...plainInstances(2, 1), ...workers.slice(from, from + MOST_AT_ONCE)]);
  return [
    ...waves,
    [...plainInstances(2, 0), BEGINNER, BEGINNER, ...arm('worker', CALLS.successor, lives)],
    [...plainInstances(2, 0), TAKER, TAKER, ...arm('worker', CALLS.thirdTaker, lives)],
    filesWave(lives),
  ];
}

export interface WaveOptions {
  seed: string;
  /** After so long it ends although a point was not reached. */
  loadLimitMs: number;
  tell?(line: string): void;
}

/** Runs one wave until each of its points was reached as often as it was armed. */
export async function runWave(wave: Wave, options: WaveOptions): Promise<ChaosRun> {
  const { loadLimitMs: loadMs, ...rest } = options;
  const readsFiles = wave.some(({ failPoint }) => failPoint?.place.startsWith('files.'));
  return runChaos({
    ...rest,
    instances: wave,
    loadMs,
    ratePerSec: 8,
    killsPerMinute: 0,
    freezeMs: 0,
    chatFails: 'never',
    filesOneIn: readsFiles ? FILES_ONE_IN : undefined,
    // A turn that meets one armed process after another must not be given up.
    settings: { TURN_MAX_CRASHES: '100' },
    isEnough: (ledger) => unreachedFailPoints(wave, ledger).length === 0,
  });
}

/** Which points were reached less often than they were armed; feeders are not asked. */
export function unreachedFailPoints(wave: Wave, { injectedFaults }: Ledger): { place: string; timesReached: number }[] {
  return wave.flatMap((instance) => {
    const { failPoint } = instance;
    if (!failPoint || FEEDERS.has(instance)) return [];
    const timesReached = injectedFaults.filter(({ detail }) => detail === failPoint.place).length;
    return timesReached < failPoint.lives ? [{ place: failPoint.place, timesReached }] : [];
  });
}
