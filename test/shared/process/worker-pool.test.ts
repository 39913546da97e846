import { expect, test } from '@jest/globals';
import { inThread } from '../../../src/shared/process/worker-pool.ts';

/** What Node gives a thread at its limit, in which it has to end. */
const LAST_ROOM_MIB = 16;

test('what a thread may move at once into its memory is less than Node gives it to end by; with more, the whole process ends [egress-checked]', async () => {
  const program = `import { parentPort, resourceLimits } from 'node:worker_threads'; parentPort.postMessage(resourceLimits);`;
  const module = new URL(`data:text/javascript,${encodeURIComponent(program)}`);
  const limits = await inThread<{ maxYoungGenerationSizeMb: number; maxOldGenerationSizeMb: number }>(
    module,
    undefined,
    {
      purpose: 'page',
      signal: AbortSignal.timeout(10_000),
    },
  );
  expect(limits.maxOldGenerationSizeMb).toBe(192);
  // Two halves that change places, and one for what was seen once.
  expect(limits.maxYoungGenerationSizeMb / 3).toBeLessThan(LAST_ROOM_MIB);
});
