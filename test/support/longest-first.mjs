// The order in which jest runs the test files. It knows how long each took when it has run them before; where it has not,
// as in a new clone, it takes the largest first, which says little of the time, and one long file may be left to the end.
import { readFileSync } from 'node:fs';
import Sequencer from '@jest/test-sequencer';

/** Files that take ten seconds and more, longest first. Beside the others nobody waits for them. */
const LONGEST = JSON.parse(readFileSync(new URL('longest-first.json', import.meta.url), 'utf8'));

const rankOf = ({ path }) => {
  const rank = LONGEST.findIndex((name) => path.endsWith(`/test/${name}.test.ts`));
  return rank < 0 ? LONGEST.length : rank;
};

export class LongestFirst extends Sequencer {
  /** @returns the tests, first those that failed and those that took longest; where no times are known, those of the list */
  sort(tests) {
    const sorted = super.sort(tests);
    if (sorted.some(({ duration }) => duration !== undefined)) return sorted;
    return sorted.sort((left, right) => rankOf(left) - rankOf(right));
  }
}

export { LongestFirst as default };
