import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { isTimeZone, localTime } from '../../src/shared/local-time.ts';
import { tries } from '../support/tries.ts';

test.each([
  ['Asia/Shanghai', Date.UTC(2026, 10, 25, 23, 30), '2026-11-26 07:30:00 Thursday'],
  ['Asia/Shanghai', Date.UTC(2026, 11, 31, 16, 0), '2027-01-01 00:00:00 Friday'],
  ['America/New_York', Date.UTC(2026, 2, 8, 7, 0), '2026-03-08 03:00:00 Sunday'],
  ['Asia/Kathmandu', Date.UTC(2024, 1, 28, 18, 15), '2024-02-29 00:00:00 Thursday'],
  ['UTC', 0, '1970-01-01 00:00:00 Thursday'],
])('in %s the local date and time are correct, with midnight and DST [local-date]', (zone, atMs, expected) => {
  const { date, time, weekday } = localTime(atMs, zone);
  expect(`${date} ${time} ${weekday}`).toBe(expected);
});

test('dates of one time zone never decrease as time passes [local-date]', () => {
  const anyMs = fc.integer({ min: 0, max: Date.UTC(2100, 0, 1) });
  fc.assert(
    fc.property(anyMs, anyMs, fc.constantFrom('Asia/Shanghai', 'Europe/Berlin', 'UTC'), (one, other, zone) => {
      const [first, second] = [Math.min(one, other), Math.max(one, other)].map((atMs) => localTime(atMs, zone).date);
      expect((first ?? '') <= (second ?? '')).toBe(true);
    }),
    { numRuns: tries(300) },
  );
});

test.each([
  ['Asia/Shanghai', true],
  ['UTC', true],
  ['Asia/Peking', false],
  ['+08:00', false],
  ['', false],
])('%j as a time zone is valid: %s', (name, isOne) => {
  expect(isTimeZone(name)).toBe(isOne);
});
