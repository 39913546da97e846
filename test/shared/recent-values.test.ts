import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { RecentValues } from '../../src/shared/recent-values.ts';

test('a remembered value is the newest of its key, and few keys are remembered at the same time', () => {
  const step = fc.record({ key: fc.string({ maxLength: 20 }), value: fc.integer() });
  fc.assert(
    fc.property(fc.constantFrom(1, 2, 8), fc.array(step, { maxLength: 40 }), (size, steps) => {
      const values = new RecentValues<number>(size);
      const newest = new Map<string, number>();
      for (const { key, value } of steps) {
        values.set(key, value);
        newest.set(key, value);
        expect(values.get(key)).toBe(value);
        const known = [...newest].filter(([one]) => values.get(one) !== undefined);
        for (const [one, expected] of known) expect(values.get(one)).toBe(expected);
        expect(known.length).toBeLessThanOrEqual(size);
      }
    }),
  );
});

test('keys with equal endings do not take the place of each other', () => {
  const values = new RecentValues<number>(2_048);
  const keys = Array.from({ length: 1_000 }, (_, number) => `user${number}@students.example.edu"}`);
  for (const [number, key] of keys.entries()) values.set(key, number);
  expect(keys.filter((key) => values.get(key) !== undefined).length).toBeGreaterThan(600);
});
