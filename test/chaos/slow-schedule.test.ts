import { expect, test } from '@jest/globals';
import type { Fault } from '../../chaos/schedule.ts';
import { planSlowFaults } from '../../chaos/slow-schedule.ts';
import { seededRandom } from '../support/seeded-random.ts';

const LOAD_MS = 1_200_000;
const plan = (seed: string) => planSlowFaults({ random: seededRandom(seed), loadMs: LOAD_MS, faultsPerMinute: 9 });
const faultsOf = (seed: string) => plan(seed).map(({ fault }) => fault);
const linksOf = (faults: Fault[]) => faults.flatMap((fault) => (fault.kind === 'link' ? [fault] : []));

test('the same seed gives the same slowness with the same lengths at the same moments, and another seed gives another', () => {
  expect(plan('one')).toEqual(plan('one'));
  expect(plan('one')).not.toEqual(plan('two'));
  const times = plan('one').map(({ atMs }) => atMs);
  expect(times).toEqual(times.toSorted((left, right) => left - right));
  expect(times.every((atMs) => atMs >= 0 && atMs <= LOAD_MS)).toBe(true);
});

test('twenty minutes contain each kind of slowness on every link in both directions, and late deliveries of abandoned requests', () => {
  const links = linksOf(faultsOf('twenty minutes'));
  const pairs = ['receiver redis', 'worker redis', 'worker slack', 'worker chat', 'receiver platform'];
  for (const pair of pairs) {
    const kinds = links
      .filter(({ role, link }) => `${role} ${link}` === pair)
      .map(({ fault }) =>
        `${fault.kind} ${'way' in fault ? fault.way : 'both'} ${'late' in fault ? 'late' : ''}`.trim(),
      );
    for (const kind of [
      'hold both',
      'hold both late',
      'hold there',
      'hold back',
      'delay both',
      'delay both late',
      'delay back',
    ])
      expect({ pair, kinds }).toEqual({ pair, kinds: expect.arrayContaining([kind]) as unknown });
  }
  const delays = links.flatMap(({ fault }) => (fault.kind === 'delay' ? [fault.delayMs] : []));
  expect(Math.min(...delays)).toBeGreaterThanOrEqual(100);
  expect(Math.max(...delays)).toBeGreaterThan(10_000);
  expect(Math.max(...delays)).toBeLessThanOrEqual(20_000);
});

test('twenty minutes contain freezes of 1 to 30 s, clocks off by minutes in both directions, sleeps, refusals, a late Slack and rolls', () => {
  const faults = [...faultsOf('twenty minutes'), ...faultsOf('and twenty more')];
  const lengthsOf = (kind: 'freeze' | 'sleep') => faults.flatMap((fault) => (fault.kind === kind ? [fault.forMs] : []));
  expect(Math.min(...lengthsOf('freeze'))).toBeLessThan(6_000);
  expect(Math.max(...lengthsOf('freeze'))).toBeGreaterThan(11_000);
  expect(Math.max(...lengthsOf('freeze'))).toBeLessThanOrEqual(30_000);
  expect(lengthsOf('sleep').length).toBeGreaterThan(0);
  const clocksMs = faults.flatMap((fault) => (fault.kind === 'clock' ? [fault.offByMs] : []));
  expect(Math.min(...clocksMs)).toBeLessThanOrEqual(-60_000);
  expect(Math.max(...clocksMs)).toBeGreaterThanOrEqual(60_000);
  const refusals = new Set(faults.flatMap((fault) => (fault.kind === 'redis-refuse' ? [fault.why] : [])));
  expect([...refusals].sort()).toEqual(['full', 'misconf', 'noperm', 'noreplicas', 'readonly']);
  expect(faults.filter(({ kind }) => kind === 'slack-late').length).toBeGreaterThan(4);
  const rolls = faultsOf('twenty minutes').flatMap((fault) => (fault.kind === 'roll' ? [fault.change] : []));
  expect(rolls).toEqual(['nothing', 'new-key', 'drop-old-key', 'group-scope']);
});

test('one fault in ten costs a worker its locks, so that answers of a minute can end', () => {
  const faults = faultsOf('share');
  const isHeavy = (fault: Fault) =>
    'forMs' in fault &&
    fault.forMs > 10_000 &&
    ((fault.kind === 'link' && fault.role === 'worker' && fault.link === 'redis') ||
      ((fault.kind === 'freeze' || fault.kind === 'sleep') && fault.role === 'worker') ||
      fault.kind === 'redis-freeze');
  expect(faults.filter(isHeavy).length).toBe(18);
});
