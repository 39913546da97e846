import { expect, test } from '@jest/globals';
import { runInThread } from '../../../src/shared/process/worker-pool.ts';

/** The extra memory that Node gives a thread at its limit, in which it must end. */
const LAST_ROOM_MIB = 16;

test("a thread's young generation fits into the memory that Node reserves for its end, otherwise the whole process would end [egress-checked]", async () => {
  const program = `import { parentPort, resourceLimits } from 'node:worker_threads'; parentPort.postMessage(resourceLimits);`;
  const module = new URL(`data:text/javascript,${encodeURIComponent(program)}`);
  const limits = await runInThread<{ maxYoungGenerationSizeMb: number; maxOldGenerationSizeMb: number }>(
    module,
    undefined,
    {
      purpose: 'page',
      signal: AbortSignal.timeout(10_000),
    },
  );
  expect(limits.maxOldGenerationSizeMb).toBe(192);
  // Two halves that are swapped, and one for objects that were seen once.
  expect(limits.maxYoungGenerationSizeMb / 3).toBeLessThan(LAST_ROOM_MIB);
});
