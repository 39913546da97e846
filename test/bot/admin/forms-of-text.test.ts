import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { readCookie, writeCookie } from '../../../src/bot/admin/cookies.ts';
import { everyDay } from '../../../src/bot/admin/pages/usage.ts';
import { durationText } from '../../../src/bot/admin/pages/times.ts';
import { isDay, sumUsage, usageCsv, type UsageGroup } from '../../../src/bot/admin/usage-sums.ts';
import { asPersonId } from '../../../src/bot/domain/ids.ts';
import { tries } from '../../support/tries.ts';

const token = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => Buffer.from(bytes).toString('base64url'));

test('the session cookie is read back from among others, and not if it is altered, foreign or present twice [admin-gate]', () => {
  fc.assert(
    fc.property(token, (value) => {
      const pair = writeCookie('session', value).split(';')[0] ?? '';
      expect(readCookie(`a=b; ${pair}; c=d`, 'session')).toBe(value);
      expect(readCookie(`${pair}; ${pair}`, 'session')).toBeUndefined();
      expect(readCookie(pair.slice(0, -1), 'session')).toBeUndefined();
      expect(readCookie(pair.replace('__Secure-', ''), 'session')).toBeUndefined();
    }),
    { numRuns: tries(200) },
  );
  expect(readCookie(undefined, 'session')).toBeUndefined();
});

const day = fc
  .integer({ min: 0, max: 400 })
  .map((days) => new Date(Date.UTC(2026, 0, 1 + days)).toISOString().slice(0, 10));
const row = fc.record({
  day,
  person: fc.constantFrom('a', 'b').map(asPersonId),
  department: fc.constantFrom('', '3100', '=1+1'),
  model: fc.constantFrom('', 'svc-plus', 'svc-max'),
  questions: fc.nat(100),
  tokens: fc.nat(100_000),
  costs: fc.dictionary(fc.constantFrom('CNY', 'USD'), fc.nat(100_000)),
});

test('sums keep every question, token and cost, for each group, and days without use are filled in once', () => {
  fc.assert(
    fc.property(
      fc.array(row, { maxLength: 30 }),
      fc.constantFrom<UsageGroup>('day', 'person', 'department', 'model'),
      (rows, group) => {
        const sums = sumUsage(group, rows);
        for (const what of ['questions', 'tokens'] as const)
          expect(sums.reduce((sum, one) => sum + one[what], 0)).toBe(rows.reduce((sum, one) => sum + one[what], 0));
        for (const currency of ['CNY', 'USD'])
          expect(sums.reduce((sum, { costs }) => sum + (costs[currency] ?? 0), 0)).toBe(
            rows.reduce((sum, { costs }) => sum + (costs[currency] ?? 0), 0),
          );
        expect(usageCsv(group, sums).split('\r\n')).toHaveLength(sums.length + 2);
        expect(usageCsv(group, sums)).not.toMatch(/^=/m);
        if (group !== 'day') return;
        const names = everyDay(sums).map(({ name }) => name);
        expect(names).toEqual([...new Set(names)].toSorted());
        expect(names).toEqual(expect.arrayContaining(sums.map(({ name }) => name)));
      },
    ),
    { numRuns: tries(200) },
  );
});

test.each([
  [0, '0 s', '0 秒'],
  [59_999, '59 s', '59 秒'],
  [200_000, '3 min 20 s', '3 分钟 20 秒'],
  [3_600_000, '1 h', '1 小时'],
  [93_600_000, '1 d 2 h', '1 天 2 小时'],
])('%d ms are shown as %s and %s', (ms, en, zh) => {
  expect([durationText(ms, 'en'), durationText(ms, 'zh')]).toEqual([en, zh]);
});

test('only real dates are dates', () => {
  const wrong = ['2026-13-01', '2026-02-30', '2026-1-1', '', '2026-11-01T00'];
  expect(['2026-11-01', '2028-02-29', ...wrong].filter(isDay)).toEqual(['2026-11-01', '2028-02-29']);
});
