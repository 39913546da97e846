import { expect, test } from '@jest/globals';
import { deliveryOf, ownerOf, userIdOf } from '../../chaos/drain.ts';
import { judgeTraces } from '../../chaos/judge-traces.ts';
import type { Ledger, SentEvent } from '../../chaos/ledger.ts';
import { asPersonId } from '../../src/bot/domain/ids.ts';
import { personIdOf } from '../../src/bot/domain/conversation.ts';
import type { Trace, TracedStep } from '../../src/bot/queue/read-trace.ts';

const EVENT: SentEvent = {
  ...{ id: 1, platform: 'slack', conversation: 3, messageId: 'C03:1', sentAtMs: 1_000, acknowledgedAtMs: 1_100 },
  tries: [],
  record: { state: 'final', answeredBy: 1 },
};
const step = (atMs: number, name: string, values: TracedStep['values'] = {}): TracedStep => ({
  atMs,
  step: name,
  values,
});
const STEPS = [
  step(1_050, 'accepted'),
  step(1_200, 'claimed', { epoch: 1, worker: 'one', crashes: 0 }),
  step(1_250, 'model asked', { model: 'svc-plus' }),
  step(5_000, 'claimed', { epoch: 2, worker: 'two', crashes: 1 }),
  step(5_100, 'model asked', { model: 'svc-plus' }),
  step(5_300, 'first token'),
  step(6_000, 'model call ended', { model: 'svc-plus', outcome: 'complete' }),
  step(6_001, 'ended', { outcome: 'answered' }),
];
const TRACE: Trace = {
  id: deliveryOf(EVENT),
  conversation: '',
  person: personIdOf(ownerOf(EVENT), userIdOf(EVENT)),
  state: 'final',
  steps: STEPS,
};

/** A question whose first worker was killed, and which the second one answered. */
function ledgerWith(trace: Partial<Trace>): Ledger {
  const call = { conversation: 3, asked: [1], inPrompt: [1], foreign: [] };
  return {
    events: [{ ...EVENT, traces: [{ ...TRACE, ...trace }] }],
    messages: [
      {
        ...{ conversation: 3, event: 1, isFinal: true },
        snapshots: [{ atMs: 6_100, text: 'S2w0 Q1 C3 S2w1 S2end' }],
      },
    ],
    samplings: [
      { ...call, number: 1, worker: 'worker1.1', startedAtMs: 1_300, endedAtMs: 2_100, ending: 'left' },
      { ...call, number: 2, worker: 'worker2.1', startedAtMs: 5_150, endedAtMs: 5_900, ending: 'whole' },
    ],
    summaries: [],
    resumptions: [],
    injectedFaults: [{ atMs: 2_000, kind: 'kill', target: 'worker1.1', detail: '' }],
    poisons: [],
  };
}
const wrong = (trace: Partial<Trace>) =>
  judgeTraces(ledgerWith(trace)).violations.map(({ detail }) => detail.split(';')[0]);
const without = (name: string) => ({ steps: STEPS.filter((one) => one.step !== name) });
const replaced = (at: number, ...other: TracedStep[]) => ({ steps: STEPS.toSpliced(at, 1, ...other) });

test('a trace that agrees with the ledger is counted by what its question suffered', () => {
  expect(judgeTraces(ledgerWith({}))).toEqual({
    violations: [],
    counts: { judged: 1, merged: 0, killed: 1, frozen: 0, retried: 0, failed: 0, dead: 0 },
  });
});

test('a call of a frozen worker that resumes later is none of the last worker', () => {
  const ledger = ledgerWith({});
  const [call] = ledger.samplings;
  if (!call) throw new Error('no call');
  for (const startedAtMs of [5_400, 15_000])
    ledger.samplings.push({ ...call, number: ledger.samplings.length + 1, worker: 'worker3.1', startedAtMs });
  expect(judgeTraces(ledger).violations).toHaveLength(1);
  ledger.injectedFaults.push({ atMs: 1_220, untilMs: 5_390, kind: 'freeze', target: 'worker3.1', detail: '' });
  expect(judgeTraces(ledger).violations).toEqual([]);
});

test('a call that a worker began when it lost the turn is none of the last worker', () => {
  const ledger = ledgerWith({});
  const [call] = ledger.samplings;
  if (!call) throw new Error('no call');
  ledger.samplings.push({ ...call, number: 3, startedAtMs: 5_400 });
  expect(judgeTraces(ledger).violations).toHaveLength(1);
  ledger.instances = { one: 'worker1.1', two: 'worker2.1' };
  expect(judgeTraces(ledger).violations).toEqual([]);
  ledger.samplings.push({ ...call, number: 4, worker: 'worker2.1', startedAtMs: 5_400 });
  expect(judgeTraces(ledger).violations).toHaveLength(1);
});

test.each<[string, Partial<Trace>, string]>([
  ['another person', { person: asPersonId('f'.repeat(32)) }, 'it names another person'],
  ['another state', { state: 'dead' }, 'it names another state'],
  ['another turn', { mergedInto: deliveryOf({ ...EVENT, messageId: 'C03:2' }) }, 'it names another turn'],
  ['a late acceptance', replaced(0, step(9_000, 'accepted')), 'it was accepted at another time'],
  ['no claim', { steps: STEPS.slice(0, 1) }, 'it has no claim'],
  ['no second claim', { steps: STEPS.toSpliced(3, 1) }, 'it lacks the claim after a kill'],
  [
    'a second claim without the crash',
    replaced(3, step(5_000, 'claimed', { epoch: 2, worker: 'two', crashes: 0 })),
    'it lacks the claim after a kill',
  ],
  [
    'falling epochs',
    replaced(3, step(5_000, 'claimed', { epoch: 1, worker: 'two', crashes: 1 })),
    'its claims have no rising epochs',
  ],
  ['no end of the call', without('model call ended'), 'it lacks calls of its last worker'],
  [
    'a call that was not made',
    replaced(6, step(5_900, 'model call ended', { outcome: 'chat_server_error' }), STEPS[6] ?? step(0, '')),
    'it names calls that the engine never received',
  ],
  ['no first token', without('first token'), 'it lacks the first token'],
  [
    'another end',
    replaced(7, step(6_001, 'ended', { outcome: 'failed' })),
    'it ended as failed, and its person saw answered',
  ],
  [
    'a refusal alone',
    replaced(7, step(6_001, 'ended', { outcome: 'refused' })),
    'it ended as refused without a reason',
  ],
  ['no end', without('ended'), 'it ended as undefined, and its person saw answered'],
])('a trace with %s contradicts the ledger', (_what, trace, fact) => {
  expect(wrong(trace)).toContain(fact);
});
