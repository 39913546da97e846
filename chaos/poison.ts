import type { SeededRandom } from '../test/support/seeded-random.ts';
import type { Ledger, Sampling } from './ledger.ts';

/** Questions that kill every process that answers them. */
export interface Poison {
  /** The next question of which the model is asked is one. */
  add(): void;
  /** Told each call of the model as it begins. @returns whether its worker dies of it, so that it must not end before */
  meet(sampling: Sampling): boolean;
}

/** The process dies so long after the call of the model began. */
const KILLS_WITHIN_MS = 800;

/** @param kill ends a life of a process, if it still lasts */
export function createPoison(ledger: Ledger, random: SeededRandom, kill: (life: string) => void): Poison {
  let wanted = 0;
  return {
    add: () => void (wanted += 1),
    meet({ asked, worker }) {
      const newest = asked.at(-1);
      if (newest === undefined) return false;
      if (wanted > 0 && !ledger.poisons.includes(newest)) {
        wanted -= 1;
        ledger.poisons.push(newest);
      }
      const isPoison = asked.some((question) => ledger.poisons.includes(question));
      if (isPoison) setTimeout(() => kill(worker), random.integer(20, KILLS_WITHIN_MS));
      return isPoison;
    },
  };
}
