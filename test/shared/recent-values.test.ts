import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { RecentValues } from '../../src/shared/recent-values.ts';

test('keeps the most recently used values, and at most twice as many', () => {
  const keys = fc.array(fc.constantFrom(...'abcdefghij'), { maxLength: 60 });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 4 }), keys, (size, used) => {
      const values = new RecentValues<string>(size);
      for (const key of used) if (values.get(key) === undefined) values.set(key, `value of ${key}`);
      const recent = [...new Set(used.toReversed())];
      for (const key of recent.slice(0, size)) expect(values.get(key)).toBe(`value of ${key}`);
      expect(recent.filter((key) => values.get(key) !== undefined).length).toBeLessThanOrEqual(2 * size);
    }),
  );
});
