// The order in which jest runs the test files. Some mostly wait (for a clock, a death, a limit), others mostly work. Where
// all that wait come first the processor idles, and where they come last everybody waits for them; so both lists are gone
// through side by side, each the longest first, so that at any time about the same share of the workers waits.
import { readFileSync } from 'node:fs';
import Sequencer from '@jest/test-sequencer';

/** Seconds that a file waits, or works; told of those that do it for long. */
const { waits: WAITS, works: WORKS } = JSON.parse(readFileSync(new URL('longest-first.json', import.meta.url), 'utf8'));

/** What a file works that is not in the lists, all in all. */
const USUAL_WORK_SEC = 1;

const nameOf = ({ path }) => path.replace(/^.*?\/test\//, '').replace(/\.test\.ts$/, '');
const waitSecOf = (test) => WAITS[nameOf(test)] ?? 0;
const workSecOf = (test) => WORKS[nameOf(test)] ?? USUAL_WORK_SEC;
const longestFirst = (tests, secOf) => tests.toSorted((left, right) => secOf(right) - secOf(left));
const total = (tests, secOf) => tests.reduce((sum, test) => sum + secOf(test), 0);

/** @returns the tests in an order in which waiting goes on as far as work does, at any time */
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
  /** @returns the tests, those first that failed the last time */
  sort(tests) {
    // It knows which failed; and its order, by what each took before, holds for those that are in no list.
    const sorted = super.sort(tests);
    const failed = sorted.filter((test) => this.hasFailed(test));
    return [...failed, ...spreadWaits(sorted.filter((test) => !failed.includes(test)))];
  }
}

export { LongestFirst as default };
