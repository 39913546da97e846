import { expect, test } from '@jest/globals';
import { reportOf, traceOf } from '../../chaos/report.ts';
import { runChaos, type ChaosRun } from '../../chaos/run-chaos.ts';
import { planFaults, type ScheduledFault } from '../../chaos/schedule.ts';
import { plainInstances } from '../../chaos/testbed.ts';
import { seededRandom } from '../support/seeded-random.ts';

// The same fault repeatedly, on real processes under load.

const STOPS = 100;
const STOPS_LOAD_MS = 300_000;
/** Five seconds of it are reserved for the handover. */
const GRACE_SEC = 7;
const CYCLES = 50;
const CYCLE_MS = 5_000;
const REDIS_AWAY_MS = 300;

const steady = { ratePerSec: 5, killsPerMinute: 0, freezeMs: 0, chatFails: 'never' as const };

/** Requires that every promise was kept. @returns the measurements */
function kept(seed: string, run: ChaosRun) {
  const { report, violations } = reportOf(seed, run);
  const traces = violations.slice(0, 3).map(({ event }) => traceOf(run.ledger, event));
  expect({ violations, traces }).toEqual({ violations: [], traces: [] });
  expect(report).toMatchObject({ answered: report.accepted, stillWaiting: 0, apologies: {} });
  return report;
}

test('100 SIGTERMs at random moments of answers in a worker pool lose and duplicate no answer, and each exit takes at most the grace time and 2 s [stopped-while-answering]', async () => {
  const seed = 'many stops';
  const run = await runChaos({
    ...{ ...steady, seed, loadMs: STOPS_LOAD_MS, instances: plainInstances(1, 4) },
    // Some of these answers end within the grace time and some do not.
    ...{ wordEveryMs: 300, settings: { SHUTDOWN_GRACE_SEC: String(GRACE_SEC) } },
    faults: planFaults({
      ...{ random: seededRandom(seed), loadMs: STOPS_LOAD_MS, killsPerMinute: 0, freezeMs: 0 },
      asked: { stops: STOPS },
    }),
  });
  const { accepted, stops } = kept(seed, run);
  expect(stops.count).toBeGreaterThanOrEqual(STOPS);
  expect(stops.unclean).toBe(0);
  expect(stops.slowestMs).toBeLessThan(GRACE_SEC * 1_000 + 2_000);
  const handedOver = run.ledger.samplings.filter(({ ending }) => ending === 'left').length;
  expect(handedOver).toBeGreaterThan(STOPS / 4);
  process.stdout.write(
    `stopped-while-answering: ${stops.count} stops, the slowest ${stops.slowestMs} ms; ${accepted} accepted, ${handedOver} answers handed over\n`,
  );
}, 480_000);

test('50 kills and restarts of Redis under load lose and duplicate no answer, restart no process, and the first answer is shown within 5 s [redis-killed]', async () => {
  const seed = 'many redis kills';
  const random = seededRandom(seed);
  const faults = Array.from({ length: CYCLES }, (_, cycle): ScheduledFault => ({
    atMs: cycle * CYCLE_MS + random.integer(500, 3_000),
    fault: { kind: 'redis-kill', awayMs: REDIS_AWAY_MS },
  }));
  const run = await runChaos({ ...steady, seed, loadMs: CYCLES * CYCLE_MS, instances: plainInstances(1, 2), faults });
  const { accepted, kills } = kept(seed, run);
  expect(kills).toBe(CYCLES);
  const snapshotsAtMs = run.ledger.messages.flatMap(({ snapshots }) => snapshots.map(({ atMs }) => atMs));
  const silencesMs = run.ledger.injectedFaults.map(
    ({ untilMs = Number.NaN }) => Math.min(...snapshotsAtMs.filter((atMs) => atMs > untilMs)) - untilMs,
  );
  const maxMs = Math.max(...silencesMs);
  expect(maxMs).toBeLessThan(5_000);
  process.stdout.write(
    `redis-killed: ${kills} kills of Redis; ${accepted} accepted; an answer after ${maxMs} ms at most\n`,
  );
}, 480_000);
