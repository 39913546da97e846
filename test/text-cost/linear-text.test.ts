import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { mixedRun, PLAIN_RUNS, SOUGHT_ENDS } from './hostile-runs.ts';
import { growthFault } from './measure-cost.ts';
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
