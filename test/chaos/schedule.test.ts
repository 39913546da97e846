import { expect, test } from '@jest/globals';
import { planAdversaries } from '../../chaos/adversaries.ts';
import { planFaults } from '../../chaos/schedule.ts';
import { seededRandom } from '../support/seeded-random.ts';

const plan = (seed: string) =>
  planFaults({ random: seededRandom(seed), loadMs: 600_000, killsPerMinute: 22, freezeMs: 15_000 });
const count = (faults: ReturnType<typeof plan>, kind: string, role?: string) =>
  faults.filter(({ fault }) => fault.kind === kind && (!role || ('role' in fault && fault.role === role))).length;

test('the same seed gives the same faults at the same moments, and another seed gives others', () => {
  expect(plan('one')).toEqual(plan('one'));
  expect(plan('one')).not.toEqual(plan('two'));
});

test('ten minutes contain over 200 kills, and 20 freezes and 20 orderly stops of workers', () => {
  const faults = plan('ten minutes');
  expect(count(faults, 'kill') + count(faults, 'redis-kill')).toBeGreaterThanOrEqual(200);
  expect(count(faults, 'freeze', 'worker')).toBeGreaterThanOrEqual(20);
  expect(count(faults, 'stop', 'worker')).toBeGreaterThanOrEqual(20);
  expect(faults.every(({ atMs }) => atMs >= 0 && atMs <= 600_000)).toBe(true);
});

test('a requested number of faults is scheduled at any rate of kills', () => {
  const random = seededRandom('asked');
  const asked = { kills: 200, freezes: 20, stops: 20 };
  const faults = planFaults({ random, loadMs: 600_000, killsPerMinute: 1, freezeMs: 15_000, asked });
  expect(count(faults, 'kill') + count(faults, 'redis-kill')).toBeGreaterThanOrEqual(200);
  const rare = planFaults({
    random,
    loadMs: 60_000,
    killsPerMinute: 1,
    freezeMs: 15_000,
    asked: { freezes: 4, stops: 3 },
  });
  expect(count(rare, 'freeze', 'worker')).toBeGreaterThanOrEqual(4);
  expect(count(rare, 'stop', 'worker')).toBeGreaterThanOrEqual(3);
  expect(faults.map(({ atMs }) => atMs)).toEqual(faults.map(({ atMs }) => atMs).sort((left, right) => left - right));
});

test('each minute of six adversaries contains every kind, with poison early enough to be found, and the same seed gives the same schedule', () => {
  const deal = (seed: string) =>
    planAdversaries({ random: seededRandom(seed), loadMs: 120_000, perMinute: 6, places: 4 });
  const dealt = deal('one');
  expect(deal('one')).toEqual(dealt);
  expect(deal('two')).not.toEqual(dealt);
  for (const kind of ['refuse-writes', 'engine-full', 'kill-readers', 'rival', 'poison'] as const)
    expect(count(dealt, kind)).toBeGreaterThanOrEqual(1);
  expect(count(dealt, 'refuse-writes')).toBeGreaterThanOrEqual(3);
  const poisons = dealt.filter(({ fault }) => fault.kind === 'poison');
  expect(Math.max(...poisons.map(({ atMs }) => atMs))).toBeLessThanOrEqual(72_000);
});
