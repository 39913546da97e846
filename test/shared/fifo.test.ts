import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Fifo } from '../../src/shared/fifo.ts';

test('a Fifo behaves like a plain array for any sequence of pushes and shifts', () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant('push' as const), count: fc.integer({ min: 1, max: 3_000 }) }),
    fc.record({ kind: fc.constant('shift' as const), count: fc.integer({ min: 1, max: 3_000 }) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
      const fifo = new Fifo<number>();
      const plain: number[] = [];
      let next = 0;
      for (const { kind, count } of steps) {
        for (let times = 0; times < count; times += 1) {
          if (kind === 'push') {
            fifo.push((next += 1));
            plain.push(next);
          } else if (fifo.shift() !== plain.shift()) throw new Error('Another one was taken out');
        }
        expect([fifo.size, fifo.oldest, [...fifo]]).toEqual([plain.length, plain[0], plain]);
      }
    }),
  );
});
