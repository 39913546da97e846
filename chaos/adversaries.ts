import type { SeededRandom } from '../test/support/seeded-random.ts';
import { spread, type Fault, type ScheduledFault } from './schedule.ts';

export interface AdversaryOptions {
  random: SeededRandom;
  loadMs: number;
  perMinute: number;
  /** Concurrent calls that a full engine still accepts. */
  places: number;
}

const SECOND_MS = 1_000;
/** A poison question interrupts a fraction of all answers, several times. */
const POISON_ONE_IN = 8;

/** Schedules external adversities over a run's time, beside our own failures. The same seed gives the same schedule. */
export function planAdversaries({ random, loadMs, perMinute, places }: AdversaryOptions): ScheduledFault[] {
  const forMs = () => random.integer(3 * SECOND_MS, 10 * SECOND_MS);
  const kinds: (() => Fault)[] = [
    () => ({ kind: 'refuse-writes', forMs: forMs() }),
    () => ({ kind: 'engine-full', places, forMs: forMs() }),
    () => ({ kind: 'kill-readers', forMs: forMs() }),
    () => ({ kind: 'refuse-writes', forMs: forMs() }),
    () => ({ kind: 'rival', forMs: random.integer(SECOND_MS / 2, 4 * SECOND_MS) }),
  ];
  const count = Math.round((perMinute * loadMs) / (60 * SECOND_MS));
  const dealt: Fault[] = [];
  while (dealt.length < count) dealt.push(...random.shuffle(kinds).map((draw) => draw()));
  const poisons = Array.from({ length: Math.ceil(count / POISON_ONE_IN) }, (): Fault => ({ kind: 'poison' }));
  // Later there would not be enough time to identify the poison question.
  const early = spread(random, loadMs * 0.6, poisons);
  return [...spread(random, loadMs, dealt.slice(0, count)), ...early];
}
