import { expect, test } from '@jest/globals';
import { judgeSoak } from '../../chaos/judge-soak.ts';
import { reportOf, traceOf } from '../../chaos/report.ts';
import type { Fault } from '../../chaos/schedule.ts';
import { runSoak, soakInstances } from '../../chaos/soak.ts';

const SEED = 'short soak';
/** Less strict than in the long form: a young process still compiles, and a busy machine may keep a connection open. */
const SHORT_BOUNDS = { heapGrowthBytes: 6_000_000, rssRatio: 1.25, handleGrowth: 2 };

/** Early in each round, so that their effects have ended at the measurement. */
const FAULTS: readonly Fault[] = [
  { kind: 'kill', role: 'worker' },
  { kind: 'kill', role: 'receiver' },
  { kind: 'redis-kill', awayMs: 300 },
  { kind: 'link', role: 'worker', link: 'redis', fault: { kind: 'cut', afterBytes: 5_000 }, forMs: 1_000 },
];

test('load and faults cause no growth in a receiver, a worker and Redis, while a leaking worker is detected [soak]', async () => {
  const leaking = { role: 'worker' as const, isWatched: true as const, preload: './test/support/leak.mjs' };
  const instances = [...soakInstances(), leaking];
  const faults = FAULTS.map((fault, index) => ({ atMs: 500 + index * 500, fault }));
  const soak = await runSoak({
    ...{ seed: SEED, rounds: 2, roundMs: 10_000, ratePerSec: 5, killsPerMinute: 0 },
    ...{ faults, instances },
  });
  const { report, violations } = reportOf(SEED, soak.run);
  const traces = violations.slice(0, 3).map(({ event }) => traceOf(soak.run.ledger, event));
  expect({ violations, traces, stillWaiting: report.stillWaiting }).toEqual({
    violations: [],
    traces: [],
    stillWaiting: 0,
  });
  expect(report.accepted).toBeGreaterThan(80);
  expect(report.kills).toBeGreaterThanOrEqual(2);

  const grown = judgeSoak(soak, SHORT_BOUNDS);
  const leaked = `worker${instances.indexOf(leaking) + 1}`;
  expect(grown.filter((fault) => !fault.startsWith(`${leaked}: `))).toEqual([]);
  expect(grown).toEqual([
    expect.stringMatching(`${leaked}: heap differs by `),
    expect.stringMatching(`${leaked}: resident memory is `),
    expect.stringMatching(`${leaked}: file descriptors: `),
    expect.stringMatching(`${leaked}: Timeout: `),
  ]);
}, 240_000);
