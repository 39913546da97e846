// The order in which jest runs the test files. Some mostly wait (for a clock, a death, a limit), others mostly use the CPU.
// If all waiting files came first, the CPU would idle; if they came last, the run would end with waiting only. Both lists
// are therefore interleaved, each the longest first, so that a constant share of the workers waits.
import { readFileSync } from 'node:fs';
import Sequencer from '@jest/test-sequencer';

/** Seconds that a file waits or works, for the files with large values. */
const { waits: WAITS, works: WORKS } = JSON.parse(readFileSync(new URL('../slow-files.json', import.meta.url), 'utf8'));

/** Assumed CPU seconds of a file that is not in the lists. */
const DEFAULT_WORK_SEC = 1;

const nameOf = ({ path }) => path.replace(/^.*?\/test\//, '').replace(/\.test\.ts$/, '');
const waitSecOf = (test) => WAITS[nameOf(test)] ?? 0;
const workSecOf = (test) => WORKS[nameOf(test)] ?? DEFAULT_WORK_SEC;
const longestFirst = (tests, secOf) => tests.toSorted((left, right) => secOf(right) - secOf(left));
const total = (tests, secOf) => tests.reduce((sum, test) => sum + secOf(test), 0);

/** @returns the tests in an order in which waiting and work progress equally */
export function spreadWaits(tests) {
  const waiting = longestFirst(
    tests.filter((test) => waitSecOf(test) > 0),
    waitSecOf,
  );
  const working = longestFirst(
    tests.filter((test) => waitSecOf(test) === 0),
    workSecOf,
  );
  const [allWaitSec, allWorkSec] = [total(waiting, waitSecOf), total(working, workSecOf)];
  const order = [];
  let [waitSec, workSec] = [0, 0];
  while (waiting.length + working.length > 0) {
    const isWaitNext = working.length === 0 || waitSec * allWorkSec <= workSec * allWaitSec;
    const next = (isWaitNext ? waiting.shift() : undefined) ?? working.shift();
    if (waitSecOf(next) > 0) waitSec += waitSecOf(next);
    else workSec += workSecOf(next);
    order.push(next);
  }
  return order;
}

export class LongestFirst extends Sequencer {
  /** @returns the tests, with those that failed last time first */
  sort(tests) {
    // The base class knows the failures, and its order by previous durations applies to unlisted files.
    const sorted = super.sort(tests);
    const failed = sorted.filter((test) => this.hasFailed(test));
    return [...failed, ...spreadWaits(sorted.filter((test) => !failed.includes(test)))];
  }
}

export { LongestFirst as default };
