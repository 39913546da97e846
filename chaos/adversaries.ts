import type { SeededRandom } from '../test/support/seeded-random.ts';
import { spread, type Fault, type ScheduledFault } from './schedule.ts';

export interface AdversaryOptions {
  random: SeededRandom;
  loadMs: number;
  perMinute: number;
  /** How many calls a full engine still takes. */
  places: number;
}

const SECOND_MS = 1_000;
/** A question that kills its workers stops a fraction of all answers, several times. */
const POISON_ONE_IN = 8;

/** Deals what the world does beside our own failures, over a run's time: the same seed deals the same. */
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
  // Later there would be no time to find out which question it is.
  const early = spread(random, loadMs * 0.6, poisons);
  return [...spread(random, loadMs, dealt.slice(0, count)), ...early];
}
