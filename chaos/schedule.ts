import type { SeededRandom } from '../test/support/seeded-random.ts';
import type { Ledger } from './ledger.ts';
import type { LinkFault } from '../test/support/tcp-proxy.ts';
import type { RefusalKind } from './redis-refusal.ts';
import type { RollChange } from './rolling.ts';
import type { LinkName, Testbed } from './testbed.ts';

/** A fault and its target. The receiver or worker is chosen at the time, among those that are running. */
export type Fault =
  | { kind: 'kill'; role: 'receiver' | 'worker' }
  | { kind: 'freeze'; role: 'receiver' | 'worker'; forMs: number }
  | { kind: 'stop'; role: 'receiver' | 'worker' }
  /** A stop of a named process without a restart, at a given moment or within 50 seconds. */
  | { kind: 'retire'; instance: string; moment?: (ledger: Ledger) => boolean }
  | { kind: 'redis-kill'; awayMs: number }
  | { kind: 'redis-freeze'; forMs: number }
  | { kind: 'redis-refuse'; why: RefusalKind; forMs: number }
  | { kind: 'link'; role: 'receiver' | 'worker'; link: LinkName; fault: LinkFault; forMs: number }
  /** A wall clock is wrong by this amount for a while; the monotonic clock is not. */
  | { kind: 'clock'; role: 'receiver' | 'worker'; offByMs: number; forMs: number }
  /** Like a paused virtual machine: the process is suspended, and its wall clock jumps forward when it resumes. */
  | { kind: 'sleep'; role: 'receiver' | 'worker'; forMs: number; offByMs: number }
  /** Slack executes calls up to this much later, whether or not their callers still wait, and loses some responses. */
  | { kind: 'slack-late'; uptoMs: number; forMs: number }
  /** A rolling restart: every process is stopped in order and restarted, one after another. */
  | { kind: 'roll'; change: RollChange }
  /** Both platforms refuse some writes, with codes of all meanings. */
  | { kind: 'refuse-writes'; forMs: number }
  /** The engine answers this many concurrent calls and refuses others. */
  | { kind: 'engine-full'; places: number; forMs: number }
  /** The next question kills every worker that answers it. */
  | { kind: 'poison' }
  /** File reader processes are killed as soon as they start. */
  | { kind: 'kill-readers'; forMs: number }
  /** Another program connects to WeCom as the same bot, and disconnects again; only if WeCom delivers over a connection. */
  | { kind: 'rival'; forMs: number }
  /** Faults of a single scenario. */
  | { kind: 'act'; name: string; act(testbed: Testbed): Promise<void> };

export interface ScheduledFault {
  /** From the beginning of the load. */
  atMs: number;
  fault: Fault;
}

export interface ScheduleOptions {
  random: SeededRandom;
  loadMs: number;
  killsPerMinute: number;
  /** Long enough to lose a lock of 10 s; shorter only in the short form. */
  freezeMs: number;
  /** Minimum numbers, whatever the rate of kills. */
  asked?: AskedCounts;
}

/** Faults that can be requested by number. Kills count for any process, freezes and stops for workers. */
export interface AskedCounts {
  kills?: number;
  freezes?: number;
  stops?: number;
}

/** Number of kills out of ten for workers, receivers and Redis. */
const KILLS: Fault[] = [
  ...Array.from({ length: 6 }, (): Fault => ({ kind: 'kill', role: 'worker' })),
  ...Array.from({ length: 3 }, (): Fault => ({ kind: 'kill', role: 'receiver' })),
  { kind: 'redis-kill', awayMs: 400 },
];

/**
 * All other faults, in random order without repetition until each has occurred, so that a run of a few minutes contains
 * each.
 */
function otherFaults(freezeMs: number): Fault[] {
  const link = (role: 'receiver' | 'worker', name: LinkName, fault: LinkFault, forMs: number): Fault => ({
    kind: 'link',
    role,
    link: name,
    fault,
    forMs,
  });
  const freezes = Array.from({ length: 5 }, (): Fault => ({ kind: 'freeze', role: 'worker', forMs: freezeMs }));
  const stops = Array.from({ length: 5 }, (): Fault => ({ kind: 'stop', role: 'worker' }));
  return [
    ...freezes,
    ...stops,
    { kind: 'freeze', role: 'receiver', forMs: 6_000 },
    { kind: 'stop', role: 'receiver' },
    { kind: 'redis-freeze', forMs: 3_000 },
    link('worker', 'redis', { kind: 'delay', delayMs: 100 }, 4_000),
    link('worker', 'redis', { kind: 'slice' }, 1_000),
    link('worker', 'redis', { kind: 'cut', afterBytes: 20_000 }, 3_000),
    link('worker', 'redis', { kind: 'hold', heals: true }, 6_000),
    link('worker', 'redis', { kind: 'hold', heals: false }, 13_000),
    link('worker', 'redis', { kind: 'reset' }, 1_000),
    link('receiver', 'redis', { kind: 'hold', heals: false }, 5_000),
    link('receiver', 'redis', { kind: 'cut', afterBytes: 5_000 }, 3_000),
    link('receiver', 'redis', { kind: 'delay', delayMs: 200 }, 4_000),
    link('worker', 'chat', { kind: 'slice' }, 3_000),
    link('worker', 'chat', { kind: 'cut', afterBytes: 3_000 }, 2_000),
    link('worker', 'chat', { kind: 'hold', heals: true }, 3_000),
    link('worker', 'chat', { kind: 'reset' }, 1_000),
    link('worker', 'slack', { kind: 'delay', delayMs: 300 }, 4_000),
    link('worker', 'slack', { kind: 'cut', afterBytes: 1_500 }, 3_000),
    link('worker', 'slack', { kind: 'hold', heals: false }, 4_000),
    link('worker', 'slack', { kind: 'reset' }, 1_500),
  ];
}

/** Number of other faults per kill. */
const OTHERS_PER_KILL = 0.6;
/** Extra faults, because a fault is skipped if no other process of its role is running. */
const SPARE_SHARE = 1.05;

/** Schedules the faults of a run: the same seed gives the same faults at the same times. */
export function planFaults(options: ScheduleOptions): ScheduledFault[] {
  const { random, loadMs, killsPerMinute, freezeMs, asked = {} } = options;
  const kills = asked.kills === undefined ? Math.round((killsPerMinute * loadMs) / 60_000) : withSpare(asked.kills);
  const others = Math.round(kills * OTHERS_PER_KILL);
  const dealt = [
    ...spread(random, loadMs, deal(random, KILLS, kills)),
    ...spread(random, loadMs, deal(random, otherFaults(freezeMs), others)),
  ];
  const missing = (kind: 'freeze' | 'stop', count = 0) =>
    Math.max(0, withSpare(count) - dealt.filter(({ fault }) => isOfWorker(fault, kind)).length);
  const freezes = fill({ kind: 'freeze', role: 'worker', forMs: freezeMs }, missing('freeze', asked.freezes));
  const stops = fill({ kind: 'stop', role: 'worker' }, missing('stop', asked.stops));
  return [...dealt, ...spread(random, loadMs, freezes), ...spread(random, loadMs, stops)].sort(
    (left, right) => left.atMs - right.atMs,
  );
}

function isOfWorker(fault: Fault, kind: Fault['kind']): boolean {
  return fault.kind === kind && 'role' in fault && fault.role === 'worker';
}

function withSpare(count: number): number {
  return Math.ceil(count * SPARE_SHARE);
}

function fill(fault: Fault, count: number): Fault[] {
  return Array.from({ length: count }, () => fault);
}

function deal(random: SeededRandom, pack: Fault[], count: number): Fault[] {
  const dealt: Fault[] = [];
  while (dealt.length < count) dealt.push(...random.shuffle(pack));
  return dealt.slice(0, count);
}

/** One random moment in each of several equal intervals. */
export function spread(random: SeededRandom, loadMs: number, faults: readonly Fault[]): ScheduledFault[] {
  const stretchMs = loadMs / Math.max(1, faults.length);
  return faults.map((fault, index) => ({
    atMs: Math.round(index * stretchMs + random.integer(0, Math.floor(stretchMs))),
    fault,
  }));
}
