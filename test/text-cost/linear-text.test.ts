import { beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { mixedRun, PLAIN_RUNS, SOUGHT_ENDS } from './hostile-runs.ts';
import { growthFault, type TextStep } from './measure-cost.ts';
import { TEXT_STEPS } from './text-steps.ts';

const names = Object.keys(TEXT_STEPS);

describe('what a text costs grows at most as the text does, whatever it is made of', () => {
  test.each(names)('%s', async (name) => {
    const step = TEXT_STEPS[name]!;
    for (const run of [...SOUGHT_ENDS, ...PLAIN_RUNS])
      expect([run.name, await growthFault(step, run)]).toEqual([run.name, undefined]);
  });

  test('mixtures of signs, in any step', async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...names), mixedRun, async (name, run) => {
        expect(await growthFault(TEXT_STEPS[name]!, run)).toBeUndefined();
      }),
      { numRuns: 300, interruptAfterTimeLimit: 5_000 },
    );
  });
});

describe('the measure', () => {
  const run = { name: 'x', of: (chars: number) => 'x'.repeat(chars) };
  const work = (ms: number) => {
    const before = process.cpuUsage();
    for (;;) {
      const { user, system } = process.cpuUsage(before);
      if (user + system >= ms * 1_000) return;
    }
  };
  const linear: TextStep = ({ length }) => work((length / 16_000) * 45);
  const square: TextStep = ({ length }) => work((length / 16_000) ** 2 * 45);
  let calls = 0;
  beforeEach(() => void (calls = 0));

  test.each<[string, TextStep]>([
    ['the square', square],
    ['the square of what is longer than a message', (text) => text.length > 4_096 && square(text)],
    ['the square, disturbed by other work', (text) => [square(text), (calls += 1) % 3 === 0 && work(20)]],
    ['what nobody can wait for', ({ length }) => work(Math.min(300, 1.5 ** length))],
  ])('finds %s', async (_name, step) => expect(await growthFault(step, run)).toEqual(expect.any(String)));

  test.each<[string, TextStep]>([
    ['grows as its text does', linear],
    ['reads only what is longer than a message', (text) => text.length > 4_096 && linear(text)],
    ['is disturbed at first', (text) => [linear(text), text.length === 16_000 && (calls += 1) < 6 && work(200)]],
  ])('lets go what %s', async (_name, step) => expect(await growthFault(step, run)).toBeUndefined());
});
