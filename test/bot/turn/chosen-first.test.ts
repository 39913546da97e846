import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { chosenFirst } from '../../../src/bot/turn/commands/chosen-first.ts';

const name = fc.constantFrom('a', 'b', 'c', 'd');

test('chosenFirst only reorders the allowed models: it adds none and loses none', () => {
  fc.assert(
    fc.property(fc.uniqueArray(name, { minLength: 1 }), fc.option(name, { nil: undefined }), (models, chosen) => {
      const [first = '', ...others] = models;
      const ordered = chosenFirst([first, ...others], chosen);
      expect([...ordered].sort()).toEqual([...models].sort());
      expect(ordered[0]).toBe(chosen !== undefined && models.includes(chosen) ? chosen : first);
    }),
  );
});
