import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { WholeText } from '../../../src/shared/models/whole-text.ts';

const pieces = fc.array(fc.string({ minLength: 4, maxLength: 12 }), { minLength: 3, maxLength: 8 });

test.each([1, 4_000])('of a text of any length only what is new is handed on, each piece %d times as long', (times) => {
  fc.assert(
    fc.property(pieces, fc.string({ minLength: 1 }), (short, more) => {
      const all = short.map((piece) => piece.repeat(times));
      const read = () => {
        const whole = new WholeText();
        for (const piece of all) whole.add(piece);
        return whole;
      };
      const text = all.join('');
      expect(read().lastPiece(text, true, false)).toBe('');
      expect(read().lastPiece(text + more, true, false)).toBe(more);
      expect(read().lastPiece(text, false, true)).toBe('');
      expect(read().lastPiece(all.at(-1)!, false, true)).toBe('');
      // A summary of something else is none.
      expect(read().lastPiece(`${more}${text.slice(0, -1)}`.slice(0, text.length - 1), true, false)).toBe('');
    }),
    { numRuns: 30 },
  );
});
