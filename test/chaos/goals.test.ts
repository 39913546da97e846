import { expect, test } from '@jest/globals';
import { missedGoals, RECOVERY_GOALS } from '../../chaos/goals.ts';
import { readOptions, USAGE } from '../../chaos/options.ts';
import { SCENARIOS } from '../../chaos/scenarios.ts';
import { reportOf } from '../../chaos/report.ts';
import type { ChaosRun } from '../../chaos/run-chaos.ts';

const FREEZE_MS = 15_000;
const DONE_WHEN = { events: 1, kills: 3, freezes: 2, stops: 1, ...RECOVERY_GOALS };

/** One answer, hit by a kill at 1.2 s and shown at 15 s; kills of each kind, two complete freezes, one stop. */
function goodRun(): ChaosRun {
  const injectedFault = { detail: '' };
  return {
    ledger: {
      events: [
        {
          ...{ id: 1, platform: 'wecom', conversation: 2, messageId: 'm1', sentAtMs: 900, acknowledgedAtMs: 950 },
          ...{ tries: [], record: { state: 'final', answeredBy: 1 } },
        },
      ],
      messages: [
        { conversation: 2, event: 1, snapshots: [{ atMs: 15_000, text: 'S2w0 Q1 C2 S2w1 S2end' }], isFinal: true },
      ],
      samplings: [1, 2].map((number) => ({
        ...{ number, worker: `worker${number}.1`, conversation: 2, asked: [1], inPrompt: [1], foreign: [] },
        ...(number === 1
          ? { startedAtMs: 1_000, endedAtMs: 1_201, ending: 'left' as const }
          : { startedAtMs: 14_000, endedAtMs: 14_900, ending: 'whole' as const }),
      })),
      summaries: [],
      resumptions: [],
      poisons: [],
      injectedFaults: [
        { ...injectedFault, kind: 'kill', target: 'worker1.1', atMs: 1_200 },
        { ...injectedFault, kind: 'kill', target: 'receiver1.1', atMs: 1_300 },
        { ...injectedFault, kind: 'redis-kill', target: 'redis', atMs: 1_100 },
        ...[2_000, 3_000].map((atMs) => ({
          ...{ ...injectedFault, kind: 'freeze' as const, target: 'worker3.1', atMs, untilMs: atMs + FREEZE_MS },
        })),
        { ...injectedFault, kind: 'freeze', target: 'worker4.1', atMs: 4_000 },
      ],
    },
    stops: [{ instance: 'worker2', code: 0, tookMs: 2_000 }],
    endedByThemselves: [],
    leftovers: { pending: 0, inboxes: 0 },
    drainedAfterMs: 10,
  };
}
const missedBy = (run: ChaosRun) => missedGoals(reportOf('seed', run).report, DONE_WHEN);

test('a run that kept all promises and recovered in time misses no goal', () => {
  const { report } = reportOf('seed', goodRun());
  expect(missedBy(goodRun())).toEqual([]);
  expect(report).toMatchObject({
    recoveryMs: { turns: 1, p50: 13_800, p99: 13_800, max: 13_800 },
    afterLastStopMs: { turns: 1, p50: 13_800, p99: 13_800, max: 13_800 },
    freezes: { count: 2, ofWorkers: 2, minMs: FREEZE_MS, cutShort: 1 },
    stops: { count: 1, ofWorkers: 1, slowestMs: 2_000, unclean: 0 },
  });
});

test.each<[string, (run: ChaosRun) => unknown, string]>([
  ['no event', ({ ledger }) => delete ledger.events[0]!.acknowledgedAtMs, '0 accepted events, asked: 1'],
  ['one kill too few', ({ ledger }) => ledger.injectedFaults.splice(1, 1), '2 kills, asked: 3'],
  [
    'a freeze shortened by a kill',
    ({ ledger }) => delete ledger.injectedFaults[3]!.untilMs,
    '1 whole freezes of workers, asked: 2',
  ],
  [
    'orderly stops of receivers only',
    ({ stops }) => (stops[0]!.instance = 'receiver1'),
    '0 orderly stops of workers, asked: 1',
  ],
  [
    'an answer that recovered late',
    ({ ledger }) => (ledger.messages[0]!.snapshots[0]!.atMs = 21_300),
    'recovery p99 is 20100 ms, promised: 20000 ms',
  ],
  [
    'an answer that recovered late before anything was posted',
    ({ ledger }) => {
      ledger.events[0]!.platform = 'slack';
      ledger.messages[0]!.snapshots[0]!.atMs = 51_300;
    },
    'recovery in doubt p99 is 50100 ms, promised: 50000 ms',
  ],
])('a run reports the missed goal: %s', (_, spoil, sentence) => {
  const run = goodRun();
  spoil(run);
  expect(missedBy(run)).toEqual([sentence]);
});

test('the help of the command lists every option, and an unknown option is refused', () => {
  for (const name of Object.keys(readOptions([]))) {
    if (['help', 'goals', 'killsPerMinute'].includes(name)) continue;
    expect(USAGE).toContain(`--${name} `);
  }
  for (const name of Object.keys(SCENARIOS)) expect(USAGE).toMatch(new RegExp(`[ ,]${name}[,\\n]`));
  expect(readOptions(['--kills', '200', '--stops', '20']).goals).toEqual({ kills: 200, stops: 20 });
  expect(() => readOptions(['--time', '3'])).toThrow('Unknown option');
});
