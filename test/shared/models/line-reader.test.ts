import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { LineReader } from '../../../src/shared/models/line-reader.ts';
import { tries } from '../../support/tries.ts';

const toError = (message: string) => new RangeError(message);
const anyText = fc.string({ unit: fc.constantFrom('a', '\n', '\r', '\r\n', 'é', '世', '😀'), maxLength: 20 });

test('lines are the same wherever the bytes are split', () => {
  fc.assert(
    fc.property(anyText, fc.array(fc.nat(60), { maxLength: 8 }), (text, cuts) => {
      const bytes = Buffer.from(text);
      const at = [
        0,
        ...cuts.map((cut) => Math.min(cut, bytes.length)).toSorted((left, right) => left - right),
        bytes.length,
      ];
      const reader = new LineReader(100, toError);
      const lines = at.slice(1).flatMap((end, index) => reader.push(bytes.subarray(at[index], end)));
      expect([...lines, reader.end()]).toEqual(text.split(/\r\n|\r|\n/));
    }),
    { numRuns: tries(1_000) },
  );
});

test('a line may be as long as the cap but no longer, in one piece or in several', () => {
  expect(new LineReader(5, toError).push(Buffer.from('12345\n'))).toEqual(['12345']);
  expect(() => new LineReader(5, toError).push(Buffer.from('123456\n'))).toThrow(RangeError);
  const reader = new LineReader(5, toError);
  reader.push(Buffer.from('12345'));
  expect(() => reader.push(Buffer.from('6'))).toThrow(RangeError);
});
