import type { SeededRandom } from '../test/support/seeded-random.ts';
import type { RefusalKind } from './redis-refusal.ts';
import type { RollChange } from './rolling.ts';
import { spread, type Fault, type ScheduledFault } from './schedule.ts';
import type { LinkName } from './testbed.ts';
import type { LinkFault, LinkWay } from '../test/support/tcp-proxy.ts';

export interface SlowScheduleOptions {
  random: SeededRandom;
  loadMs: number;
  /** All kinds occur in turn; one in ten causes lost locks. */
  faultsPerMinute: number;
}

/** A lock is held for 10 s. A worker that is unreachable for longer has lost its turns, and each model call is repeated. */
const LOCK_MS = 10_000;
const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
/**
 * Faults without lost locks per fault with lost locks: repeating answers of a minute too often would measure only the
 * faults.
 */
const LIGHT_TO_HEAVY = 9;
const ROLL_EVERY_MS = 5 * MINUTE_MS;

type Role = 'receiver' | 'worker';
type Draw = (random: SeededRandom) => Fault;

/** Held, delayed, late and one-way interrupted traffic on one link, for a duration between two bounds. */
function linkDraws(role: Role, link: LinkName, [minMs, maxMs]: [number, number]): Draw[] {
  const forMs = (random: SeededRandom) => random.integer(minMs, maxMs);
  const hold = (more: { heals: boolean; way?: LinkWay; late?: true }): Draw => {
    const fault: LinkFault = { kind: 'hold', ...more };
    return (random) => ({ kind: 'link', role, link, fault, forMs: forMs(random) });
  };
  const delay = (more: { way?: LinkWay; late?: true }): Draw => {
    return (random) => {
      const lastsMs = forMs(random);
      const delayMs = random.integer(100, Math.min(20 * SECOND_MS, Math.max(200, lastsMs)));
      return { kind: 'link', role, link, fault: { kind: 'delay', delayMs, ...more }, forMs: lastsMs };
    };
  };
  return [
    hold({ heals: true }),
    hold({ heals: true, late: true }),
    hold({ heals: false, way: 'there' }),
    hold({ heals: false, way: 'back' }),
    delay({}),
    delay({ late: true }),
    delay({ way: 'back' }),
  ];
}

function freeze(role: Role, minMs: number, maxMs: number): Draw {
  return (random) => ({ kind: 'freeze', role, forMs: random.integer(minMs, maxMs) });
}

/** Offset in minutes, in either direction. */
function clock(role: Role, maxMinutes: number): Draw {
  return (random) => {
    const offByMs = random.pick([-1, 1]) * random.integer(MINUTE_MS, maxMinutes * MINUTE_MS);
    return { kind: 'clock', role, offByMs, forMs: random.integer(5 * SECOND_MS, 40 * SECOND_MS) };
  };
}

function sleep(role: Role, minMs: number, maxMs: number): Draw {
  return (random) => {
    const forMs = random.integer(minMs, maxMs);
    return { kind: 'sleep', role, forMs, offByMs: random.integer(MINUTE_MS, 4 * MINUTE_MS) };
  };
}

function refusal(why: RefusalKind): Draw {
  return (random) => ({ kind: 'redis-refuse', why, forMs: random.integer(SECOND_MS, 8 * SECOND_MS) });
}

const slackLate: Draw = (random) => ({
  kind: 'slack-late',
  uptoMs: random.integer(2 * SECOND_MS, 12 * SECOND_MS),
  forMs: random.integer(3 * SECOND_MS, 10 * SECOND_MS),
});

/** Faults that end before a lock expires. */
const LIGHT: readonly Draw[] = [
  ...linkDraws('worker', 'redis', [500, LOCK_MS - 3 * SECOND_MS]),
  ...linkDraws('receiver', 'redis', [500, 15 * SECOND_MS]),
  ...linkDraws('worker', 'slack', [500, 20 * SECOND_MS]),
  ...linkDraws('worker', 'chat', [500, 20 * SECOND_MS]),
  ...linkDraws('receiver', 'platform', [500, 20 * SECOND_MS]),
  ...[freeze('worker', SECOND_MS, 6 * SECOND_MS), freeze('worker', SECOND_MS, 6 * SECOND_MS)],
  ...[freeze('receiver', SECOND_MS, 30 * SECOND_MS), sleep('worker', SECOND_MS, 6 * SECOND_MS)],
  ...[clock('worker', 10), clock('worker', 10), clock('worker', 10), clock('receiver', 4)],
  ...(['full', 'misconf', 'noperm', 'readonly', 'noreplicas'] as const).map(refusal),
  ...[slackLate, slackLate, slackLate, slackLate],
  (random) => ({ kind: 'redis-freeze', forMs: random.integer(SECOND_MS, 6 * SECOND_MS) }),
  (random) => ({
    ...{ kind: 'link', role: 'worker', link: 'redis', forMs: 2 * SECOND_MS },
    fault: { kind: 'cut', afterBytes: random.integer(1_000, 60_000) },
  }),
];

/** Faults that make a worker lose its locks. */
const HEAVY: readonly Draw[] = [
  ...linkDraws('worker', 'redis', [LOCK_MS + SECOND_MS, 20 * SECOND_MS]),
  ...[freeze('worker', LOCK_MS + SECOND_MS, 30 * SECOND_MS), freeze('worker', LOCK_MS + SECOND_MS, 30 * SECOND_MS)],
  sleep('worker', LOCK_MS + SECOND_MS, 30 * SECOND_MS),
  (random) => ({ kind: 'redis-freeze', forMs: random.integer(LOCK_MS + SECOND_MS, 15 * SECOND_MS) }),
];

const ROLLS: readonly RollChange[] = ['nothing', 'new-key', 'drop-old-key', 'group-scope'];

/** Schedules slow-dependency faults: the same seed gives the same faults, with the same durations, at the same times. */
export function planSlowFaults({ random, loadMs, faultsPerMinute }: SlowScheduleOptions): ScheduledFault[] {
  const faults = Math.round((faultsPerMinute * loadMs) / MINUTE_MS);
  const heavy = Math.round(faults / (LIGHT_TO_HEAVY + 1));
  const drawn = (draws: readonly Draw[], count: number) => {
    const dealt: Draw[] = [];
    while (dealt.length < count) dealt.push(...random.shuffle(draws));
    return spread(
      random,
      loadMs,
      dealt.slice(0, count).map((draw) => draw(random)),
    );
  };
  return [...drawn(LIGHT, faults - heavy), ...drawn(HEAVY, heavy), ...planRolls(loadMs)].sort(
    (left, right) => left.atMs - right.atMs,
  );
}

/**
 * One every five minutes, so that each has ended when the next begins and every change occurs once in twenty minutes; the
 * old key is dropped after a new one was added.
 */
function planRolls(loadMs: number): ScheduledFault[] {
  return Array.from({ length: Math.floor(loadMs / ROLL_EVERY_MS) }, (_, index) => ({
    atMs: Math.round((index + 0.25) * ROLL_EVERY_MS),
    fault: { kind: 'roll', change: ROLLS[index % ROLLS.length] ?? 'nothing' },
  }));
}
