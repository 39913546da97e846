import { expect, test } from '@jest/globals';
import { reportOf, traceOf } from '../../chaos/report.ts';
import { runChaos } from '../../chaos/run-chaos.ts';
import type { Fault, ScheduledFault } from '../../chaos/schedule.ts';
import { plainInstances } from '../../chaos/testbed.ts';

const SEED = 'short form';

/** One of each of the most important faults, a second apart; `npm run chaos` injects hundreds. */
const FAULTS: readonly Fault[] = [
  { kind: 'kill', role: 'worker' },
  { kind: 'kill', role: 'receiver' },
  { kind: 'redis-kill', awayMs: 300 },
  { kind: 'stop', role: 'worker' },
  { kind: 'link', role: 'worker', link: 'redis', fault: { kind: 'cut', afterBytes: 5_000 }, forMs: 1_500 },
  { kind: 'link', role: 'worker', link: 'slack', fault: { kind: 'cut', afterBytes: 1_500 }, forMs: 1_500 },
  { kind: 'kill', role: 'worker' },
  { kind: 'refuse-writes', forMs: 1_500 },
  { kind: 'engine-full', places: 2, forMs: 1_500 },
  { kind: 'kill-readers', forMs: 1_500 },
];

test('deaths, stops and link failures of processes under load cause no lost, repeated, reordered or crossed answer [worker-killed] [receiver-killed] [redis-killed] [stopped-while-answering] [platform-fails] [refused-by-platform]', async () => {
  const faults = FAULTS.map((fault, index): ScheduledFault => ({ atMs: 1_000 + index * 700, fault }));
  const run = await runChaos({
    seed: SEED,
    loadMs: 8_000,
    ratePerSec: 6,
    killsPerMinute: 0,
    instances: plainInstances(2, 2),
    freezeMs: 0,
    chatFails: 'briefly',
    adversariesPerMinute: 0,
    filesOneIn: 10,
    faults,
  });
  const { report, violations } = reportOf(SEED, run);
  const traces = violations.slice(0, 3).map(({ event }) => traceOf(run.ledger, event));
  expect({ violations, traces, stillWaiting: report.stillWaiting }).toEqual({
    violations: [],
    traces: [],
    stillWaiting: 0,
  });
  expect(report.accepted).toBeGreaterThan(35);
  expect(report.answered).toBe(report.accepted);
  expect(report.kills).toBeGreaterThanOrEqual(3);
  expect(report.traces.judged).toBeGreaterThanOrEqual(report.accepted);
}, 120_000);
