import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { SerialQueue } from '../../src/shared/serial-queue.ts';

/** Tasks that end on request, with the order in which they began. */
function setUp(lane: SerialQueue) {
  const began: string[] = [];
  const ends: (() => void)[] = [];
  const add = (owner: string, name: string) =>
    lane.run(owner, async () => {
      began.push(name);
      await new Promise<void>((end) => ends.push(end));
    });
  const endOne = async () => {
    ends.shift()?.();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { began, add, endOne };
}

test('ten slow pictures of one person delay another person by at most one', async () => {
  const { began, add, endOne } = setUp(new SerialQueue(1));
  const all = Array.from({ length: 10 }, (_, index) => add('a', `a${index}`));
  all.push(add('b', 'b0'), add('c', 'c0'));
  await endOne();
  await endOne();
  await endOne();
  expect(began).toEqual(['a0', 'a1', 'b0', 'c0']);
  for (let count = 0; count < 10; count += 1) await endOne();
  await Promise.all(all);
});

test('one person never takes all slots, so that another one begins at once', async () => {
  const { began, add, endOne } = setUp(new SerialQueue(4, 2));
  const all = Array.from({ length: 6 }, (_, index) => add('a', `a${index}`));
  all.push(add('b', 'b0'));
  await new Promise((resolve) => setImmediate(resolve));
  expect(began).toEqual(['a0', 'a1', 'b0']);
  for (let count = 0; count < 7; count += 1) await endOne();
  await Promise.all(all);
});

test("every task runs once, in its owner's order, never above the concurrency limit", async () => {
  const owners = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 30 });
  await fc.assert(
    fc.asyncProperty(
      owners,
      fc.integer({ min: 1, max: 4 }),
      fc.integer({ min: 1, max: 4 }),
      async (who, width, widthOfOne) => {
        const lane = new SerialQueue(width, widthOfOne);
        const began: Record<string, number[]> = { a: [], b: [], c: [] };
        const running: string[] = [];
        await Promise.all(
          who.map((owner, index) =>
            lane.run(owner, async () => {
              began[owner]?.push(index);
              running.push(owner);
              expect(running.length).toBeLessThanOrEqual(width);
              expect(running.filter((one) => one === owner).length).toBeLessThanOrEqual(widthOfOne);
              await new Promise((resolve) => setImmediate(resolve));
              running.splice(running.indexOf(owner), 1);
            }),
          ),
        );
        expect(lane.unfinished).toBe(0);
        for (const [owner, order] of Object.entries(began))
          expect(order).toEqual(who.flatMap((one, index) => (one === owner ? [index] : [])));
      },
    ),
  );
});
