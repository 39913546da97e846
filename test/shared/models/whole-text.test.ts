import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { StreamedText } from '../../../src/shared/models/whole-text.ts';
import { tries } from '../../support/tries.ts';

const pieces = fc.array(fc.string({ minLength: 4, maxLength: 12 }), { minLength: 3, maxLength: 8 });

test.each([1, 4_000])('only the new part of any text is passed on, with parts %d times as long', (times) => {
  fc.assert(
    fc.property(pieces, fc.string({ minLength: 1 }), (short, more) => {
      const all = short.map((piece) => piece.repeat(times));
      const read = () => {
        const whole = new StreamedText();
        for (const piece of all) whole.add(piece);
        return whole;
      };
      const text = all.join('');
      expect(read().lastPiece(text, true, false)).toBe('');
      expect(read().lastPiece(text + more, true, false)).toBe(more);
      expect(read().lastPiece(text, false, true)).toBe('');
      expect(read().lastPiece(all.at(-1)!, false, true)).toBe('');
      // A summary of another text does not count.
      expect(read().lastPiece(`${more}${text.slice(0, -1)}`.slice(0, text.length - 1), true, false)).toBe('');
    }),
    { numRuns: tries(30) },
  );
});
