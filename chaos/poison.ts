import type { SeededRandom } from '../test/support/seeded-random.ts';
import type { Ledger, Sampling } from './ledger.ts';

/** Questions that kill every process that answers them. */
export interface Poison {
  /** Makes the next question that reaches the model a poison question. */
  add(): void;
  /**
   * Called with each model call when it begins. @returns after how many milliseconds the calling process dies of it
   * (die-of-response.mjs); the call must not end before
   */
  meet(sampling: Sampling): number | undefined;
}

/** Maximum delay from the beginning of the model call until its process dies. */
const KILLS_WITHIN_MS = 800;

export function createPoison(ledger: Ledger, random: SeededRandom): Poison {
  let wanted = 0;
  return {
    add: () => void (wanted += 1),
    meet({ asked }) {
      const newest = asked.at(-1);
      if (newest === undefined) return undefined;
      if (wanted > 0 && !ledger.poisons.includes(newest)) {
        wanted -= 1;
        ledger.poisons.push(newest);
      }
      const isPoison = asked.some((question) => ledger.poisons.includes(question));
      return isPoison ? random.integer(20, KILLS_WITHIN_MS) : undefined;
    },
  };
}
