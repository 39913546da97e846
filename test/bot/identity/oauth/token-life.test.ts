import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { refreshAfterMs, tokenLifeMs } from '../../../../src/bot/identity/oauth/token-life.ts';

describe('expires_in without a unit [expiry-unit]', () => {
  test.each([
    [7_200, 7_200_000],
    [7_200_000, 7_200_000],
    [28_800, 28_800_000],
    [86_400, 86_400_000],
    [604_800, 604_800],
    [90, 90_000],
    [1_790_000_000, 86_400_000],
    ['7200', 7_200_000],
    [1, 60_000],
    [299_999, 86_400_000],
    [300_000, 300_000],
  ])('auto: reads %p as %p ms', (given, lifeMs) => {
    expect(tokenLifeMs(given, 'auto')).toBe(lifeMs);
  });

  test.each([
    undefined,
    null,
    0,
    -1,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    '',
    '2h',
    ' 7200',
    '-5',
    '1e3',
    true,
    {},
    [7200],
  ])('treats %p as missing: 5 minutes', (given) => {
    expect(tokenLifeMs(given, 'auto')).toBe(300_000);
  });

  test('is clamped to between one minute and one day, and follows the configured unit', () => {
    const units = fc.constantFrom('auto', 'seconds', 'milliseconds');
    fc.assert(
      fc.property(fc.oneof(fc.anything(), fc.double(), fc.integer(), fc.nat().map(String)), units, (given, unit) => {
        const lifeMs = tokenLifeMs(given, unit);
        expect(lifeMs >= 60_000 && lifeMs <= 86_400_000).toBe(true);
      }),
    );
    fc.assert(
      fc.property(fc.integer({ min: 60_000, max: 86_400_000 }), (value) => {
        expect(tokenLifeMs(value, 'milliseconds')).toBe(value);
        expect(tokenLifeMs(value / 1_000, 'seconds')).toBeCloseTo(value, 6);
      }),
    );
  });

  test('schedules the refresh at 70 to 80 % of the token life', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 60_000, max: 86_400_000 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (lifeMs, random) => {
          const afterMs = refreshAfterMs(lifeMs, () => random);
          expect(afterMs).toBeGreaterThanOrEqual(Math.floor(lifeMs * 0.7) - 1);
          expect(afterMs).toBeLessThanOrEqual(lifeMs * 0.8);
        },
      ),
    );
  });
});
