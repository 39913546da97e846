import type { Ledger } from './ledger.ts';
import { runChaos, type ChaosRun } from './run-chaos.ts';
import { plainInstances, type InstancePlan } from './testbed.ts';

/**
 * All external calls in the processing of a message, by the process that makes them
 * (RELIABILITY.md crash-between-post-and-record).
 */
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
  /** Made by each worker at its start, without any messages. */
  sweeper: ['redis.find-stale-pending'],
  /** Made only for an answer that another worker began. */
  successor: ['slack.auth.test', 'slack.conversations.replies', 'slack.chat.update'],
  /** Made only for a turn in which two workers have died. */
  thirdTaker: ['redis.mark-turn'],
  /** Made only for a question with a file. */
  reader: ['slack.files.info', 'files.fetch', 'files.read', 'redis.keep-media'],
} as const;

/** A worker that crashes whenever it reaches the point, so that others find its unfinished work. */
const feederAt = (place: string): InstancePlan => ({ role: 'worker', failPoint: { place, lives: 1_000 } });
/** Begins answers and crashes before it records them, so that its successors have to search. */
const BEGINNER = feederAt('slack.chat.startStream:after');
/** Crashes on any turn. Two among few other workers ensure that many turns meet both, or one of them twice. */
const TAKER = feederAt('redis.claim:after');
const FEEDERS = new Set([BEGINNER, TAKER]);
const MAX_AT_ONCE = 8;
/** One in this many questions on Slack has a file, because only Slack's files are read; each reader is an additional process. */
const FILES_ONE_IN = 4;

/** Processes that are armed together, with their requirements. */
export type Wave = readonly InstancePlan[];

/** The critical points: directly before and after irreversible operations. */
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

/** Workers that crash while they process a file. @param lives how often each point must be reached */
export function filesWave(lives: number): Wave {
  return [...plainInstances(1, 1), ...arm('worker', CALLS.reader, lives)];
}

/**
 * All fail points in waves of a few processes, so that a small machine can run them. @param lives how often each must be
 * reached
 */
export function allWaves(lives: number): Wave[] {
  const workers = arm('worker', CALLS.worker, lives);
  const waves: Wave[] = [
    [...plainInstances(1, 2), ...arm('receiver', CALLS.receiver, lives), ...arm('worker', CALLS.sweeper, lives)],
  ];
  for (let from = 0; from < workers.length; from += MAX_AT_ONCE)
    waves.push([...plainInstances(2, 1), ...workers.slice(from, from + MAX_AT_ONCE)]);
  return [
    ...waves,
    [...plainInstances(2, 0), BEGINNER, BEGINNER, ...arm('worker', CALLS.successor, lives)],
    [...plainInstances(2, 0), TAKER, TAKER, ...arm('worker', CALLS.thirdTaker, lives)],
    filesWave(lives),
  ];
}

export interface WaveOptions {
  seed: string;
  /** Time limit of a wave whose points were not all reached. */
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
    // A turn that meets several armed processes must not be given up.
    settings: { TURN_MAX_CRASHES: '100' },
    isEnough: (ledger) => unreachedFailPoints(wave, ledger).length === 0,
  });
}

/** Points that were reached less often than they were armed; feeders are not included. */
export function unreachedFailPoints(wave: Wave, { injectedFaults }: Ledger): { place: string; timesReached: number }[] {
  return wave.flatMap((instance) => {
    const { failPoint } = instance;
    if (!failPoint || FEEDERS.has(instance)) return [];
    const timesReached = injectedFaults.filter(({ detail }) => detail === failPoint.place).length;
    return timesReached < failPoint.lives ? [{ place: failPoint.place, timesReached }] : [];
  });
}
