import type { SeededRandom } from '../test/support/seeded-random.ts';
import type { Ledger } from './ledger.ts';
import type { LinkFault } from '../test/support/tcp-proxy.ts';
import type { RefusalKind } from './redis-refusal.ts';
import type { RollChange } from './rolling.ts';
import type { LinkName, Testbed } from './testbed.ts';

/** What is done to whom. Which receiver or worker it hits is drawn when it happens, among those that stand. */
export type Fault =
  | { kind: 'kill'; role: 'receiver' | 'worker' }
  | { kind: 'freeze'; role: 'receiver' | 'worker'; forMs: number }
  | { kind: 'stop'; role: 'receiver' | 'worker' }
  /** A stop of one process, named, that nobody starts again; at a moment that is told, or that comes within ten seconds. */
  | { kind: 'retire'; instance: string; moment?: (ledger: Ledger) => boolean }
  | { kind: 'redis-kill'; awayMs: number }
  | { kind: 'redis-freeze'; forMs: number }
  | { kind: 'redis-refuse'; why: RefusalKind; forMs: number }
  | { kind: 'link'; role: 'receiver' | 'worker'; link: LinkName; fault: LinkFault; forMs: number }
  /** A wall clock is off by so much, for a while; the monotonic one is not. */
  | { kind: 'clock'; role: 'receiver' | 'worker'; offByMs: number; forMs: number }
  /** As when a virtual machine is paused: it stands still, and its wall clock has jumped on when it wakes. */
  | { kind: 'sleep'; role: 'receiver' | 'worker'; forMs: number; offByMs: number }
  /** Slack executes calls up to so much later, whether their callers still wait or not, and loses some answers. */
  | { kind: 'slack-late'; uptoMs: number; forMs: number }
  /** Every process is stopped in order and starts again, one after another. */
  | { kind: 'roll'; change: RollChange }
  /** Both platforms refuse writes, one in a few, with codes of every meaning. */
  | { kind: 'refuse-writes'; forMs: number }
  /** The engine answers so many calls at once and refuses others. */
  | { kind: 'engine-full'; places: number; forMs: number }
  /** The next question kills whichever worker answers it. */
  | { kind: 'poison' }
  /** Processes that read files are killed as they come. */
  | { kind: 'kill-readers'; forMs: number }
  /** Another program connects to WeCom as the same bot, and leaves again; only where WeCom delivers over a connection. */
  | { kind: 'rival'; forMs: number }
  /** What one scenario alone does. */
  | { kind: 'act'; name: string; act(testbed: Testbed): Promise<void> };

export interface ScheduledFault {
  /** From the beginning of the load on. */
  atMs: number;
  fault: Fault;
}

export interface ScheduleOptions {
  random: SeededRandom;
  loadMs: number;
  killsPerMinute: number;
  /** Long enough for a lock of 10 s to be lost; shorter only in the short form. */
  freezeMs: number;
  /** How many there must be at least, whatever the pace of the kills is. */
  asked?: AskedCounts;
}

/** Faults that a run is asked for by number. Kills are those of any process, freezes and stops those of workers. */
export interface AskedCounts {
  kills?: number;
  freezes?: number;
  stops?: number;
}

/** Of ten kills so many hit a worker, a receiver, Redis. */
const KILLS: Fault[] = [
  ...Array.from({ length: 6 }, (): Fault => ({ kind: 'kill', role: 'worker' })),
  ...Array.from({ length: 3 }, (): Fault => ({ kind: 'kill', role: 'receiver' })),
  { kind: 'redis-kill', awayMs: 400 },
];

/** Every kind of fault but kills, dealt like a pack of cards, so that a run of some minutes meets each. */
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

/** Other faults to one kill. */
const OTHERS_PER_KILL = 0.6;
/** A fault is left out where nobody else of its role stands, so a few more are dealt than were asked for. */
const SPARE_SHARE = 1.05;

/** Deals the faults of a run over its time: the same seed deals the same faults at the same moments. */
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

/** One in each equal stretch of the time, anywhere in it. */
export function spread(random: SeededRandom, loadMs: number, faults: readonly Fault[]): ScheduledFault[] {
  const stretchMs = loadMs / Math.max(1, faults.length);
  return faults.map((fault, index) => ({
    atMs: Math.round(index * stretchMs + random.integer(0, Math.floor(stretchMs))),
    fault,
  }));
}
