import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { TimedTextBuffer, type TimedText } from '../../src/shared/ring-buffer.ts';
import { tries } from '../support/tries.ts';

const latin1 = fc.array(fc.integer({ min: 0, max: 255 })).map((codes) => String.fromCharCode(...codes));
/** Some fill a block alone, and some are larger than a block. */
const anyText = fc.oneof(latin1, fc.constantFrom('', 'x'.repeat(65_524), 'y'.repeat(65_525), 'z'.repeat(200_000)));

test('a ring buffer behaves like a plain array for any sequence of operations', () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant('push' as const), text: anyText, times: fc.integer({ min: 1, max: 40 }) }),
    fc.record({ kind: fc.constant('shift' as const), times: fc.integer({ min: 1, max: 60 }) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
      const texts = new TimedTextBuffer();
      const plain: TimedText[] = [];
      let atMs = 0.25;
      for (const taken of steps) {
        for (let times = 0; times < taken.times; times += 1) {
          if (taken.kind === 'shift') expect(texts.shift()).toEqual(plain.shift());
          else {
            texts.push((atMs += 1_000.5), taken.text);
            plain.push({ atMs, text: taken.text });
          }
        }
        expect([texts.size, texts.oldestAtMs]).toEqual([plain.length, plain[0]?.atMs]);
        expect(texts.bytes).toBe(plain.reduce((sum, { text }) => sum + text.length, 0));
        expect([...texts]).toEqual(plain);
      }
    }),
    { numRuns: tries(60) },
  );
});
