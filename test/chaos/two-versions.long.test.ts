import { afterAll, expect, test } from '@jest/globals';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Ledger } from '../../chaos/ledger.ts';
import { reportOf, traceOf } from '../../chaos/report.ts';
import { runChaos } from '../../chaos/run-chaos.ts';
import { makeTwoBuilds } from '../support/two-builds.ts';

const SEED = 'two versions';
/** A maximum: the load ends once both processes are retired. On a busy machine, answers begin late. */
const LOAD_MS = 60_000;
const RETIRE_AT_MS = 4_000;
/** Time for which the next version runs alone under load. */
const ALONE_MS = 1_500;

const builds = makeTwoBuilds();
const logFolder = mkdtempSync(join(tmpdir(), 'parley-two-versions-'));
afterAll(() => {
  builds.remove();
  rmSync(logFolder, { recursive: true, force: true });
});

/** Whether the old worker is streaming answers on both platforms, and has just begun one on each. */
const isAnsweringOnBoth = ({ samplings, events }: Ledger) => {
  const open = samplings.filter(({ worker, ending }) => worker.startsWith('worker2.') && ending === 'open');
  return ['slack', 'wecom'].every((wanted) => {
    const on = open.filter(({ asked }) => events[(asked[0] ?? 0) - 1]?.platform === wanted);
    return on.length > 1 && on.some(({ startedAtMs }) => startedAtMs > Date.now() - 1_000);
  });
};
const logOf = (instance: string) => readFileSync(join(logFolder, `${instance}.log`), 'utf8');
/** Whether the old worker has skipped data that only the next version can read: a waiting message and a wake-up. */
const hasMetTheNext = () =>
  ['message', 'wake'].every((what) =>
    new RegExp(`"what":"${what}".*a version that only a newer worker can read`).test(logOf('worker2')),
  );
const isOver = ({ injectedFaults }: Ledger) =>
  injectedFaults.length > 1 && Date.now() > Math.max(...injectedFaults.map(({ atMs }) => atMs)) + ALONE_MS;

/** Platforms on which the next version continued an answer that was interrupted by the stop of the old worker. */
function platformsHandedOver({ samplings, events }: Ledger): string[] {
  const isTakenOver = (asked: readonly number[], fromMs: number) =>
    samplings.some(
      (later) =>
        later.worker.startsWith('worker4.') && later.startedAtMs > fromMs && later.asked.includes(asked[0] ?? 0),
    );
  const handedOver = samplings.filter(
    ({ worker, ending, asked, startedAtMs }) =>
      worker.startsWith('worker2.') && ending === 'left' && isTakenOver(asked, startedAtMs),
  );
  return [...new Set(handedOver.map(({ asked }) => events[(asked[0] ?? 0) - 1]?.platform ?? ''))].sort();
}

test('each question is answered once in the same message when an old version is stopped during its answers next to a new one [two-versions] [versioned-payloads]', async () => {
  const run = await runChaos({
    ...{ seed: SEED, loadMs: LOAD_MS, ratePerSec: 10, killsPerMinute: 0, freezeMs: 0, chatFails: 'never' },
    // Answers take several seconds, mostly longer than the grace time.
    ...{ wordEveryMs: 700, isEnough: isOver, settings: { SHUTDOWN_GRACE_SEC: '1' }, logFolder },
    instances: [
      { role: 'receiver', main: builds.present },
      { role: 'worker', main: builds.present },
      { role: 'receiver', main: builds.next },
      { role: 'worker', main: builds.next },
    ],
    faults: ['receiver1', 'worker2'].map((instance) => ({
      atMs: RETIRE_AT_MS,
      fault: {
        kind: 'retire' as const,
        instance,
        moment: (ledger: Ledger) => isAnsweringOnBoth(ledger) && hasMetTheNext(),
      },
    })),
  });
  const { report, violations } = reportOf(SEED, run);
  const traces = violations.slice(0, 3).map(({ event }) => traceOf(run.ledger, event));
  expect({ violations, traces }).toEqual({ violations: [], traces: [] });
  expect(report.answered).toBe(report.accepted);
  expect(report.stillWaiting).toBe(0);
  expect(report.apologies).toEqual({});
  expect(report.accepted).toBeGreaterThan(40);
  expect(report.stops).toMatchObject({ count: 2, unclean: 0 });
  expect(platformsHandedOver(run.ledger)).toEqual(['slack', 'wecom']);

  expect(hasMetTheNext()).toBe(true);
  for (const worker of ['worker2', 'worker4']) expect(logOf(worker)).not.toContain('a run failed');
}, 180_000);
