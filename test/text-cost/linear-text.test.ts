import { beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { everyNth, tries } from '../support/tries.ts';
import { mixedRun, PLAIN_RUNS, SOUGHT_ENDS } from './hostile-runs.ts';
import { growthFault, processorMs, type CostMs, type TextStep } from './measure-cost.ts';
import { TEXT_STEPS } from './text-steps.ts';

const names = Object.keys(TEXT_STEPS);

describe('the cost of text processing is linear in the length of the text', () => {
  test.each(names.map((name, index) => ({ name, index })))('of $name', async ({ name, index }) => {
    const step = TEXT_STEPS[name]!;
    for (const run of [...SOUGHT_ENDS, ...everyNth(PLAIN_RUNS, 4, index)])
      expect([run.name, await growthFault(step, run)]).toEqual([run.name, undefined]);
  });

  test('of mixtures of characters in any step', async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...names), mixedRun, async (name, run) => {
        expect(await growthFault(TEXT_STEPS[name]!, run)).toBeUndefined();
      }),
      { numRuns: tries(300) },
    );
  });
});

describe('the measurement of text costs', () => {
  const run = { name: 'x', of: (chars: number) => 'x'.repeat(chars) };
  /** Uses the return value of the step as its cost. */
  const told: CostMs = (step, text) => step(text) as number;
  const linear = ({ length }: string) => (length / 16_000) * 45;
  const square = ({ length }: string) => (length / 16_000) ** 2 * 45;
  const isLong = ({ length }: string) => length > 4_096;
  /** Recorded on a busy machine: three jumps in a row, the first of them from zero. */
  const begun = ({ length }: string) => {
    if (length === 16_000 && (calls += 1) < 6) return 200;
    return { 8_000: 6.7, 16_000: 24.6, 32_000: 66.8, 64_000: 134, 128_000: 268 }[length] ?? 0;
  };
  let calls = 0;
  beforeEach(() => void (calls = 0));

  test.each<[string, TextStep]>([
    ['quadratic cost', square],
    ['quadratic cost above the length of a message', (text) => (isLong(text) ? square(text) : 0)],
    ['quadratic cost with disturbances', (text) => square(text) + ((calls += 1) % 3 === 0 ? 20 : 0)],
    ['exponential cost', ({ length }) => Math.min(300, 1.5 ** length)],
  ])('finds %s', async (_name, step) => expect(await growthFault(step, run, told)).toEqual(expect.any(String)));

  test.each<[string, TextStep]>([
    ['linear cost', linear],
    ['linear cost above the length of a message', (text) => (isLong(text) ? linear(text) : 0)],
    ['cost that begins at some length, on a busy machine', begun],
    [
      'cost with disturbances at first',
      (text) => linear(text) + (text.length === 16_000 && (calls += 1) < 6 ? 200 : 0),
    ],
  ])('accepts %s', async (_name, step) => expect(await growthFault(step, run, told)).toBeUndefined());

  test('counts the CPU time of a step and not the waiting time', async () => {
    const work = () => {
      const before = process.cpuUsage();
      while (process.cpuUsage(before).user < 60_000);
    };
    expect(await processorMs(work, '')).toBeGreaterThanOrEqual(60);
    expect(await processorMs(() => new Promise((resolve) => setTimeout(resolve, 300)), '')).toBeLessThan(300);
  });
});
