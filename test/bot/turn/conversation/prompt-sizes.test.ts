import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { HOUR_MS } from '../../../../src/shared/clock.ts';
import { PromptSizes } from '../../../../src/bot/turn/conversation/prompt-sizes.ts';

const MOST = 24_000;

test('the token factor approaches the service’s count within a dozen answers and stays there', () => {
  fc.assert(
    fc.property(
      fc.double({ min: 0.5, max: 3, noNaN: true }),
      fc.integer({ min: 200, max: 50_000 }),
      (truth, tokens) => {
        const sizes = new PromptSizes(() => 0);
        for (let count = 0; count < 12; count += 1) sizes.recordUsage('m', tokens, tokens * truth);
        expect(Math.abs(sizes.factorOf('m') - truth)).toBeLessThan(0.15);
      },
    ),
  );
});

test('the token factor stays between 0.5 and 3 for any count of a service', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.double({ noNaN: true }), fc.double({ noNaN: true }))), (answers) => {
      const sizes = new PromptSizes(() => 0);
      for (const [estimated, counted] of answers) sizes.recordUsage('m', estimated, counted);
      expect(sizes.factorOf('m')).toBeGreaterThanOrEqual(0.5);
      expect(sizes.factorOf('m')).toBeLessThanOrEqual(3);
    }),
    { examples: [[[[Infinity, Infinity]]]] },
  );
});

test('each model has its own token factor, and a short prompt does not change it', () => {
  const sizes = new PromptSizes(() => 0);
  sizes.recordUsage('one', 1_000, 2_000);
  sizes.recordUsage('two', 100, 300);
  expect(sizes.factorOf('one')).toBeCloseTo(1.2);
  expect(sizes.factorOf('two')).toBe(1);
});

test('a prompt size that a service refused as too long is not used again for an hour', () => {
  let nowMs = 5;
  const sizes = new PromptSizes(() => nowMs);
  expect(sizes.budgetOf('m', MOST)).toBe(MOST);
  sizes.recordRefusal('m', 8_000);
  expect(sizes.budgetOf('m', MOST)).toBe(6_000);
  expect(sizes.budgetOf('other', MOST)).toBe(MOST);
  sizes.recordRefusal('m', 10);
  expect(sizes.budgetOf('m', MOST)).toBe(1_000);
  nowMs += HOUR_MS;
  expect(sizes.budgetOf('m', MOST)).toBe(MOST);
});
