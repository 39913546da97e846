import { expect, test } from '@jest/globals';
import { reportOf, traceOf } from '../../chaos/report.ts';
import { runChaos } from '../../chaos/run-chaos.ts';
import { slowOptions } from '../../chaos/run-slow.ts';
import type { Fault, ScheduledFault } from '../../chaos/schedule.ts';
import { plainInstances } from '../../chaos/testbed.ts';

const SEED = 'short slowness';
const MINUTE_MS = 60_000;

/** One of each of the most important kinds; `npm run chaos -- --slow` injects hundreds. Time in ms, then the fault. */
const FAULTS: readonly (readonly [number, Fault])[] = [
  // Longer than a lock is valid.
  [
    1_500,
    { kind: 'link', role: 'worker', link: 'redis', fault: { kind: 'hold', heals: true, late: true }, forMs: 11_500 },
  ],
  [2_000, { kind: 'slack-late', uptoMs: 7_000, forMs: 2_000 }],
  [2_500, { kind: 'clock', role: 'worker', offByMs: -3 * MINUTE_MS, forMs: 5_000 }],
  [
    3_000,
    {
      kind: 'link',
      role: 'receiver',
      link: 'platform',
      fault: { kind: 'hold', heals: false, way: 'back' },
      forMs: 1_500,
    },
  ],
  [
    4_000,
    {
      kind: 'link',
      role: 'receiver',
      link: 'redis',
      fault: { kind: 'delay', delayMs: 1_800, late: true },
      forMs: 1_500,
    },
  ],
  [5_000, { kind: 'redis-refuse', why: 'full', forMs: 1_200 }],
  [7_000, { kind: 'sleep', role: 'worker', forMs: 1_500, offByMs: 2 * MINUTE_MS }],
  [8_000, { kind: 'redis-freeze', forMs: 1_500 }],
  [
    10_000,
    { kind: 'link', role: 'worker', link: 'chat', fault: { kind: 'hold', heals: true, way: 'back' }, forMs: 1_500 },
  ],
  [10_500, { kind: 'redis-refuse', why: 'noreplicas', forMs: 1_000 }],
];

test('slow links, clocks, machines, Redis and Slack leave each long answer complete and shown once, with nothing open', async () => {
  const faults = FAULTS.map(([atMs, fault]): ScheduledFault => ({ atMs, fault }));
  const run = await runChaos({
    ...slowOptions(SEED, 3),
    ...{ loadMs: 8_000, ratePerSec: 3, users: 40, answerMs: { least: 2_500, most: 8_000 }, faults },
    instances: plainInstances(2, 3),
  });
  const { report, violations } = reportOf(SEED, run);
  const traces = violations.slice(0, 3).map(({ event }) => traceOf(run.ledger, event));
  expect({ violations, traces, stillWaiting: report.stillWaiting }).toEqual({
    violations: [],
    traces: [],
    stillWaiting: 0,
  });
  expect(report.accepted).toBeGreaterThan(15);
  expect(report.answered).toBe(report.accepted);
  expect(new Set(run.ledger.injectedFaults.map(({ kind }) => kind)).size).toBeGreaterThanOrEqual(6);
}, 180_000);
