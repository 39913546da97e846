import { expect, test } from '@jest/globals';
import { existsSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { tries } from '../support/tries.ts';

type Spread = (tests: { path: string }[]) => { path: string }[];
/** Plain JavaScript without types, as jest requires. */
const SEQUENCER = new URL('../support/longest-first.mjs', import.meta.url).pathname;
const { spreadWaits } = (await import(SEQUENCER)) as { spreadWaits: Spread };

const { waits, works } = JSON.parse(readFileSync('test/slow-files.json', 'utf8')) as {
  waits: Record<string, number>;
  works: Record<string, number>;
};
const testOf = (name: string) => ({ path: `/somewhere/test/${name}.test.ts` });

test('the lists of the longest test files name each file once, and only existing files', () => {
  const names = [...Object.keys(waits), ...Object.keys(works)];
  expect(names.length).toBe(new Set(names).size);
  expect(names.filter((name) => !existsSync(`test/${name}.test.ts`))).toEqual([]);
});

test('the order contains every test file once, and waiting never leads the work by more than one file', () => {
  const listed = fc.subarray([...Object.keys(waits), ...Object.keys(works)]);
  const others = fc.uniqueArray(fc.stringMatching(/^[a-z]{1,6}\/[a-z]{9}$/), { maxLength: 40 });
  fc.assert(
    fc.property(listed, others, (long, short) => {
      const names = [...long, ...short];
      const order = spreadWaits(names.map(testOf)).map(({ path }) => path);
      expect(order.toSorted()).toEqual(names.map((name) => testOf(name).path).toSorted());
      const waitSecs = order
        .map((path) => names.find((name) => testOf(name).path === path) ?? '')
        .map((name) => waits[name] ?? 0);
      const workSecs = order.map((path, index) =>
        waitSecs[index] ? 0 : (works[names.find((name) => testOf(name).path === path) ?? ''] ?? 1),
      );
      const sum = (secs: number[]) => secs.reduce((all, sec) => all + sec, 0);
      const [allWaitSec, allWorkSec] = [sum(waitSecs), sum(workSecs)];
      if (allWaitSec === 0 || allWorkSec === 0) return;
      for (const index of order.keys()) {
        const waited = sum(waitSecs.slice(0, index)) / allWaitSec;
        const worked = sum(workSecs.slice(0, index)) / allWorkSec;
        const maxOfOne = Math.max(...waitSecs) / allWaitSec + Math.max(...workSecs) / allWorkSec;
        expect(Math.abs(waited - worked)).toBeLessThanOrEqual(maxOfOne + 1e-9);
      }
    }),
    { numRuns: tries(30) },
  );
});
