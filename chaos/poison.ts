import type { SeededRandom } from '../test/support/seeded-random.ts';
import type { Ledger, Sampling } from './ledger.ts';

/** Questions that kill every process that answers them. */
export interface Poison {
  /** Makes the next question that reaches the model a poison question. */
  add(): void;
  /**
   * Called with each model call when it begins. @returns whether its worker will die of it, so that the call must not end
   * before
   */
  meet(sampling: Sampling): boolean;
}

/** Maximum delay from the beginning of the model call until its process is killed. */
const KILLS_WITHIN_MS = 800;

/** @param kill ends a life of a process, if it is still running */
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
