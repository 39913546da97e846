import { execFileSync } from 'node:child_process';
import { expect, test } from '@jest/globals';
import { restartAll } from '../../chaos/inject-faults.ts';
import { buildOlder } from '../../chaos/older-build.ts';
import { reportOf, traceOf } from '../../chaos/report.ts';
import { runChaos } from '../../chaos/run-chaos.ts';
import type { Fault, ScheduledFault } from '../../chaos/schedule.ts';
import type { Testbed } from '../../chaos/testbed.ts';

const PRESENT = 'dist/main.js';
const SEED = 'older build';
const LOAD_MS = 60_000;

/** The release before this one. Without a release, an older commit. */
function olderCommit(): string {
  const [newestTag = ''] = execFileSync('git', ['tag', '--sort=-creatordate'], { encoding: 'utf8' }).split('\n');
  return process.env['OLDER_COMMIT'] ?? (newestTag === '' ? 'HEAD~30' : newestTag);
}

const older = buildOlder(olderCommit());

/** Both builds lose processes side by side; then everything is upgraded, loses processes again, and is downgraded. */
const FAULTS: readonly ScheduledFault[] = [
  ...[6_000, 10_000, 14_000].map((atMs) => ({ atMs, fault: { kind: 'kill', role: 'worker' } as const })),
  { atMs: 12_000, fault: { kind: 'kill', role: 'receiver' } },
  { atMs: 20_000, fault: restartAs('upgrade', PRESENT) },
  { atMs: 34_000, fault: { kind: 'kill', role: 'worker' } },
  { atMs: 40_000, fault: restartAs('downgrade', older) },
];

function restartAs(name: string, main: string): Fault {
  const act = async (testbed: Testbed) => {
    await restartAll(testbed, { main });
  };
  return { kind: 'act', name, act };
}

test('an older build beside this one, an upgrade and a downgrade lose, repeat and reorder nothing [two-versions]', async () => {
  const run = await runChaos({
    ...{ seed: SEED, loadMs: LOAD_MS, ratePerSec: 2, killsPerMinute: 0, freezeMs: 0, chatFails: 'never' },
    ...{ answerMs: { least: 1_000, most: 4_000 }, drainLimitMs: 200_000 },
    settings: {
      WORKER_CONCURRENCY: '4',
      QUEUE_SOFT_AGE_SEC: '600',
      QUEUE_HARD_AGE_SEC: '600',
      SHUTDOWN_GRACE_SEC: '2',
    },
    instances: [older, PRESENT].flatMap((main) => [
      { role: 'receiver' as const, main },
      { role: 'worker' as const, main },
    ]),
    faults: [...FAULTS],
  });
  const { report, violations } = reportOf(SEED, run);
  const traces = violations.slice(0, 3).map(({ event }) => traceOf(run.ledger, event));
  expect({ violations, traces }).toEqual({ violations: [], traces: [] });
  expect(report.accepted).toBeGreaterThan(60);
  expect(report.answered).toBe(report.accepted);
  expect(report.stillWaiting).toBe(0);
}, 420_000);
