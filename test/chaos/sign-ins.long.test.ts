import { expect, test } from '@jest/globals';
import { reportOf, traceOf } from '../../chaos/report.ts';
import { runChaos } from '../../chaos/run-chaos.ts';
import type { Fault } from '../../chaos/schedule.ts';
import { plainInstances } from '../../chaos/testbed.ts';

const SEED = 'short sign-in';

/** While people visit the pages and type their codes. */
const FAULTS: readonly Fault[] = [
  { kind: 'kill', role: 'receiver' },
  { kind: 'kill', role: 'worker' },
  { kind: 'redis-kill', awayMs: 300 },
  { kind: 'kill', role: 'receiver' },
];

test('sign-ins during process deaths leave one-to-one links, and held questions are answered once, after the sign-in', async () => {
  const run = await runChaos({
    ...{ seed: SEED, loadMs: 6_000, ratePerSec: 5, killsPerMinute: 0, freezeMs: 0, chatFails: 'never', signsIn: true },
    instances: plainInstances(2, 2),
    faults: FAULTS.map((fault, index) => ({ atMs: 1_000 + index * 1_000, fault })),
  });
  const { report, violations } = reportOf(SEED, run);
  const traces = violations.slice(0, 3).map(({ event }) => traceOf(run.ledger, event));
  expect({ violations, traces }).toEqual({ violations: [], traces: [] });
  expect(report.answered).toBe(report.accepted);
  // A user is never invited if the platform gave up all of their messages.
  const taken = run.ledger.events.filter(({ acknowledgedAtMs }) => acknowledgedAtMs !== undefined);
  const users = new Set(taken.map(({ conversation }) => conversation)).size;
  expect(report.links).toEqual({ users, broken: 0 });
  expect(users).toBeGreaterThan(5);
}, 180_000);
