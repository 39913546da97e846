import { expect, test } from '@jest/globals';
import type { InjectedFault, Ledger, Sampling } from '../../chaos/ledger.ts';
import { nameOf, slowRecoveries } from '../../chaos/slow-recovery.ts';
import { missedSlowGoals, SLOW_GOALS, slowReportOf } from '../../chaos/slow-report.ts';

const sampling = (number: number, more: Partial<Sampling>): Sampling => ({
  ...{ number, worker: `worker${number}.1`, conversation: 2, asked: [1], inPrompt: [1], foreign: [] },
  ...{ startedAtMs: 1_500, endedAtMs: 61_500, ending: 'whole' },
  ...more,
});
const injectedFault = (more: Partial<InjectedFault>): InjectedFault => ({
  atMs: 10_000,
  kind: 'freeze',
  target: 'worker1.1',
  detail: '',
  ...more,
});

/** One answer of 60 s whose worker lost it at 10 to 25 s; another worker restarted it at 30 s, and it was shown at 91 s. */
const goodRun = (): Ledger => ({
  events: [
    {
      ...{ id: 1, platform: 'wecom', conversation: 2, messageId: 'm1', sentAtMs: 900, acknowledgedAtMs: 1_000 },
      ...{ tries: [], record: { state: 'final', answeredBy: 1 } },
    },
  ],
  messages: [
    { conversation: 2, event: 1, snapshots: [{ atMs: 91_000, text: 'S2w0 Q1 C2 S2w1 S2end' }], isFinal: true },
  ],
  samplings: [
    sampling(1, { endedAtMs: 25_000, ending: 'left' }),
    sampling(2, { startedAtMs: 30_000, endedAtMs: 90_000 }),
  ],
  summaries: [],
  resumptions: [],
  poisons: [],
  injectedFaults: [injectedFault({ untilMs: 25_000 })],
});
const recoveriesAfter = (...injectedFaults: InjectedFault[]) => slowRecoveries({ ...goodRun(), injectedFaults });

test('recovery is the idle time of an answer after the last fault that affected it, without the time of the model', () => {
  expect(slowRecoveries(goodRun())).toEqual([{ event: 1, injectedFault: 'freeze of a worker', ms: 6_000 }]);
  // In the middle of the last answer: only the second until it was shown.
  const inTheMidst = injectedFault({ target: 'worker2.1', atMs: 40_000, untilMs: 45_000 });
  expect(recoveriesAfter(injectedFault({ untilMs: 25_000 }), inTheMidst)).toEqual([
    { event: 1, injectedFault: 'freeze of a worker', ms: 1_000 },
  ]);
});

test('a fault affects a turn if it hit the worker of the turn or a shared part, and otherwise not', () => {
  expect(
    recoveriesAfter(
      injectedFault({ target: 'worker3.1' }),
      injectedFault({ target: 'worker2.1' }),
      injectedFault({ atMs: 200 }),
    ),
  ).toEqual([]);
  expect(recoveriesAfter(injectedFault({ target: 'redis', kind: 'redis-freeze', untilMs: 26_000 }))).toHaveLength(1);
  expect(recoveriesAfter(injectedFault({ target: 'slack', kind: 'slack-late' }))).toEqual([]);
  // A fault of a receiver only delays the display at the end.
  expect(recoveriesAfter(injectedFault({ target: 'receiver1.1' }))).toEqual([]);
  expect(recoveriesAfter(injectedFault({ target: 'receiver1.1', atMs: 85_000, untilMs: 90_800 }))).toMatchObject([
    { ms: 200 },
  ]);
  // An answer that continued during the fault needs no recovery.
  expect(recoveriesAfter(injectedFault({ target: 'worker2.1', atMs: 80_000, untilMs: 99_000 }))).toEqual([]);
});

test('an answer that waits for the previous one in its conversation is not idle', () => {
  const ledger = goodRun();
  ledger.samplings[0] = sampling(1, { asked: [7], endedAtMs: 29_000 });
  ledger.injectedFaults = [injectedFault({ kind: 'redis-freeze', target: 'redis', untilMs: 12_000 })];
  expect(slowRecoveries(ledger)).toEqual([{ event: 1, injectedFault: 'redis-freeze', ms: 2_000 }]);
});

test('a kind of fault has a short name', () => {
  const detail = JSON.stringify({ kind: 'hold', heals: false, way: 'back' });
  expect(nameOf({ kind: 'link', target: 'worker2.14 redis', detail })).toBe('worker redis hold back for good');
  const late = JSON.stringify({ kind: 'delay', delayMs: 900, late: true });
  expect(nameOf({ kind: 'link', target: 'receiver1.1 platform', detail: late })).toBe('receiver platform delay late');
  expect(nameOf({ kind: 'redis-refuse', target: 'redis', detail: 'full' })).toBe('redis-refuse full');
  expect(nameOf({ kind: 'clock', target: 'receiver1.3', detail: '60000 ms' })).toBe('clock of a receiver');
});

test('the report of a slow run contains long answers, calls per answer, and idle time by kind of fault', () => {
  expect(slowReportOf(goodRun(), 30_000)).toMatchObject({
    longAnswers: 1,
    callsPerAnswer: 1,
    allCallsPerAnswer: 2,
    recoveryMs: { turns: 1, p99: 6_000 },
    byInjectedFault: { 'freeze of a worker': { injectedFaults: 1, turns: 1, max: 6_000 } },
    beginsAfterMs: { turns: 1, p50: 500 },
  });
});

test.each<[string, (ledger: Ledger) => unknown, string[]]>([
  ['a call that no fault cut', () => 0, ['the model was asked 2 times an answer, at most: 1.1']],
  [
    'an answer that was short',
    (ledger) => [
      ledger.samplings.splice(0, 1, { ...ledger.samplings[0]!, number: 1 }),
      (ledger.samplings[1]!.endedAtMs = 59_000),
    ],
    ['0 long answers, asked: 1', 'the model was asked 2 times an answer, at most: 1.1'],
  ],
  [
    'an answer that was idle',
    (ledger) => (ledger.messages[0]!.snapshots[0]!.atMs = 126_000),
    ['the model was asked 2 times an answer, at most: 1.1', 'recovery p99 is 41000 ms, promised: 40000 ms'],
  ],
])('a slow run reports the missed goal: %s', (_name, spoil, sentences) => {
  const ledger = goodRun();
  // It lasts as long and cuts no call.
  ledger.injectedFaults[0]!.kind = 'clock';
  spoil(ledger);
  expect(missedSlowGoals(slowReportOf(ledger, 30_000), { ...SLOW_GOALS, longAnswers: 1 })).toEqual(sentences);
});

/** The lost call lasts from 1.5 to 25 s, and the next worker takes its turn at 30 s. */
const lostAfter = (...injectedFaults: InjectedFault[]) =>
  slowReportOf({ ...goodRun(), injectedFaults }, 30_000).lostCalls;
const link = (name: string, kind: string, untilMs: number): InjectedFault =>
  injectedFault({ kind: 'link', target: `worker1.1 ${name}`, detail: JSON.stringify({ kind, heals: true }), untilMs });

test.each<[name: string, fault: InjectedFault]>([
  ['kill of a worker', injectedFault({ kind: 'kill', atMs: 24_999 })],
  ['stop of a worker', injectedFault({ kind: 'stop', untilMs: 25_100 })],
  ['freeze of a worker', injectedFault({ untilMs: 16_000 })],
  ['freeze of a worker', injectedFault({})],
  ['sleep of a worker', injectedFault({ kind: 'sleep', untilMs: 16_000 })],
  ['worker redis hold', link('redis', 'hold', 16_000)],
  ['worker redis cut', link('redis', 'cut', 16_000)],
  ['worker chat hold', link('chat', 'hold', 25_000)],
])('a call that was cut by a %s does not count as one too many (%#)', (name, fault) => {
  expect(lostAfter(fault)).toEqual({ cut: { [name]: 1 }, wasted: {} });
});

test.each<[name: string, fault: InjectedFault]>([
  ['freeze of a worker', injectedFault({ atMs: 20_000, untilMs: 25_000 })],
  ['worker redis hold', link('redis', 'hold', 15_000)],
  ['redis-freeze', injectedFault({ target: 'redis', kind: 'redis-freeze', untilMs: 25_000 })],
  ['clock of a worker', injectedFault({ kind: 'clock', untilMs: 25_000 })],
  ['worker chat hold', link('chat', 'hold', 24_000)],
  // A fault of another worker, one that ended long before, and a later one.
  ['unknown', injectedFault({ target: 'worker2.1', untilMs: 25_000 })],
  ['unknown', injectedFault({ atMs: 2_000, untilMs: 9_000 })],
  ['unknown', injectedFault({ atMs: 26_000, untilMs: 40_000 })],
])('a call that was lost after a harmless %s counts as one too many (%#)', (name, fault) => {
  expect(lostAfter(fault)).toEqual({ cut: {}, wasted: { [name]: 1 } });
});

test('a call of a worker that no longer has the turn counts as one too many, whatever fault made it lose the turn', () => {
  const ledger = goodRun();
  // The turn was taken after six seconds, at 16 s.
  ledger.samplings[1] = sampling(2, { startedAtMs: 16_000, endedAtMs: 90_000 });
  ledger.samplings.push(sampling(3, { worker: 'worker1.1', startedAtMs: 17_000, endedAtMs: 25_000, ending: 'left' }));
  expect(slowReportOf(ledger, 30_000)).toMatchObject({
    ...{ callsPerAnswer: 2, allCallsPerAnswer: 3 },
    lostCalls: { cut: { 'freeze of a worker': 1 }, wasted: { 'freeze of a worker': 1 } },
  });
});

test('a call that ended beside a poison question in the same process does not count as one too many', () => {
  const ledger = { ...goodRun(), injectedFaults: [], poisons: [9] };
  const poison = (endedAtMs: number) => sampling(3, { worker: 'worker1.1', asked: [9], ending: 'left', endedAtMs });
  const lostBeside = (endedAtMs: number) =>
    slowReportOf({ ...ledger, samplings: [...ledger.samplings, poison(endedAtMs)] }, 30_000).lostCalls;
  expect(lostBeside(25_100)).toEqual({ cut: { poison: 2 }, wasted: {} });
  expect(lostBeside(20_000)).toEqual({ cut: { poison: 1 }, wasted: { unknown: 1 } });
});

test('a run with one call per answer misses no goal', () => {
  const ledger = goodRun();
  ledger.messages.push({
    conversation: 4,
    event: 2,
    snapshots: [{ atMs: 1, text: 'S3w0 Q2 C4 S3end' }],
    isFinal: true,
  });
  ledger.messages.push({
    conversation: 4,
    event: 3,
    snapshots: [{ atMs: 1, text: 'S4w0 Q3 C4 S4end' }],
    isFinal: true,
  });
  expect(missedSlowGoals(slowReportOf(ledger, 30_000), { ...SLOW_GOALS, longAnswers: 1 })).toEqual([]);
});
