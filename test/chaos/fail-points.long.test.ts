import { expect, test } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { allWaves, filesWave, keenWave, unreachedFailPoints, runWave, type Wave } from '../../chaos/fail-points.ts';
import { reportOf, traceOf } from '../../chaos/report.ts';
import { runFailPoints } from '../../chaos/run-fail-points.ts';
import { plainInstances } from '../../chaos/testbed.ts';

const placesOf = (waves: readonly (readonly { failPoint?: { place: string } }[])[]) =>
  new Set(waves.flat().flatMap(({ failPoint }) => failPoint?.place ?? []));

test('processes that die directly before or after irreversible steps leave one complete answer per question [crash-between-post-and-record]', async () => {
  const wave = keenWave();
  const run = await runWave(wave, { seed: 'keen', loadLimitMs: 40_000 });
  const { report, violations } = reportOf('keen', run);
  const traces = violations.slice(0, 3).map(({ event }) => traceOf(run.ledger, event));
  expect({ violations, traces, stillWaiting: report.stillWaiting }).toEqual({
    violations: [],
    traces: [],
    stillWaiting: 0,
  });
  expect(unreachedFailPoints(wave, run.ledger)).toEqual([]);
  expect(report.answered).toBe(report.accepted);
}, 180_000);

test("workers that die while reading a file leave one complete answer per question, and no file in another one's [crash-between-post-and-record]", async () => {
  const wave = filesWave(1);
  const run = await runWave(wave, { seed: 'files', loadLimitMs: 60_000 });
  const { report, violations } = reportOf('files', run);
  const traces = violations.slice(0, 3).map(({ event }) => traceOf(run.ledger, event));
  expect({ violations, traces, stillWaiting: report.stillWaiting }).toEqual({
    violations: [],
    traces: [],
    stillWaiting: 0,
  });
  expect(unreachedFailPoints(wave, run.ledger)).toEqual([]);
}, 240_000);

/** Scripts that no accepted question needs, or that the rig does not cause. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  'add-check': 'after the answer',
  answered: 'after a failover of Redis',
  'change-history': 'commands and erasure',
  'claim-stray': 'after the answer',
  'count-person': 'clusters',
  'count-waiting': 'metrics',
  'edit-message': 'edits',
  'end-check': 'after the answer',
  'end-claims': 'of dead workers, repeated by the sweeper',
  'held-for': 'sign-ins',
  'list-processes': 'administrators',
  'not-crashed': 'after a freeze',
  'note-presence': 'of dead workers, repeated by the sweeper',
  'note-shards': 'at the start',
  release: 'sign-ins',
  'remove-shard': 'at the start',
  renew: 'turns of more than four seconds',
  replay: 'dead letters',
  'settle-budget': 'budgets in a cluster',
  'stop-running': 'stops',
  'take-checks': 'after the answer',
  'wait-for-key': 'changes of the key',
  withdraw: 'orderly ends',
};

test('every Lua script of the message path has a fail point before and after it in the long run [crash-between-post-and-record]', () => {
  const places = placesOf(allWaves(1));
  const scripts = ['src/bot/queue/scripts', 'src/bot/reply/scripts'].flatMap((folder) =>
    readdirSync(folder).flatMap((file) => (file.endsWith('.lua') ? [file.replace('.lua', '')] : [])),
  );
  const isCovered = (script: string) => ['before', 'after'].every((when) => places.has(`redis.${script}:${when}`));
  expect(scripts.filter((script) => !isCovered(script)).toSorted()).toEqual(Object.keys(LEFT_OUT).toSorted());
});

test('the run of all fail points fails when a point is never reached [crash-between-post-and-record]', async () => {
  const wave: Wave = [
    ...plainInstances(1, 1),
    { role: 'worker', failPoint: { place: 'redis.nowhere:before', lives: 1 } },
  ];
  const lines: string[] = [];
  const say = (line: string) => void lines.push(line);
  expect(await runFailPoints({ lives: 1, seed: 'nowhere', say, waves: [wave], loadLimitMs: 1_500 })).toBe(false);
  expect(lines).toContain('NOT REACHED often enough: redis.nowhere:before, 0 times');
  // No other fault occurred, so this is the reason for the failure.
  expect(lines.filter((line) => /^(?:LOST|REPEATED|CROSSED|UNFINISHED|UNEXPLAINED)/.test(line))).toEqual([]);
}, 120_000);

test('a fail point has no effect outside of tests', () => {
  const source = readFileSync(join('src', 'shared', 'fail-point.ts'), 'utf8');
  expect(source).toContain("process.env['NODE_ENV'] === 'test'");
});
