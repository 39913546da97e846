import { describe, expect, test } from '@jest/globals';
import { judge } from '../../chaos/judge.ts';
import { questionText, type Ledger, type SentEvent, type VisibleMessage } from '../../chaos/ledger.ts';
import { THOUGHT } from '../../chaos/engine-streams.ts';
import { separateLeftovers } from '../../chaos/separate-leftovers.ts';
import { recoveryTimes } from '../../chaos/recovery.ts';
import { REPLY_TEXTS } from '../../src/bot/i18n/reply-texts.ts';
import { withoutSlashes } from '../../src/shared/text/texts.ts';
import { FILE_TEXTS } from '../../src/bot/i18n/file-texts.ts';
import { TURN_TEXTS } from '../../src/bot/i18n/turn-texts.ts';

const whole = (sampling: number, ...questions: number[]) =>
  `S${sampling}w0 ${questions.map((id) => `Q${id}`).join(' ')} C7 S${sampling}w1 S${sampling}w2 S${sampling}end`;
const event = (id: number, more: Partial<SentEvent> = {}): SentEvent => ({
  id,
  platform: 'wecom',
  conversation: 7,
  messageId: `m${id}`,
  sentAtMs: id * 1_000,
  acknowledgedAtMs: id * 1_000 + 10,
  tries: [],
  record: { state: 'final', answeredBy: id },
  ...more,
});
const shown = (id: number, ...texts: string[]): VisibleMessage => ({
  conversation: 7,
  event: id,
  snapshots: texts.map((text, index) => ({ atMs: id * 1_000 + 500 + index * 100, text })),
  isFinal: true,
});
const sampling = (number: number, asked: number[], more: Partial<Ledger['samplings'][number]> = {}) => ({
  number,
  worker: 'worker1',
  conversation: 7,
  asked,
  inPrompt: asked,
  foreign: [],
  startedAtMs: number * 1_000 + 100,
  endedAtMs: number * 1_000 + 400,
  ending: 'whole' as const,
  ...more,
});
const kept = (): Ledger => ({
  events: [event(1), event(2)],
  messages: [shown(1, whole(1, 1)), shown(2, whole(2, 2))],
  samplings: [sampling(1, [1]), sampling(2, [2], { inPrompt: [1, 2] })],
  summaries: [{ conversations: [7] }],
  resumptions: [],
  injectedFaults: [],
  poisons: [],
});
const kindsOf = (ledger: Ledger) => judge(ledger).violations.map(({ kind }) => kind);

test('a run whose questions were all answered once, in order and one at a time has no violations', () => {
  expect(judge(kept())).toMatchObject({ violations: [], accepted: 2, answered: 2, merged: 0 });
});

test.each([
  REPLY_TEXTS.answeredBelow.en,
  REPLY_TEXTS.followsBelow.en,
  `<think>ℹ️ AI-generated</think>\n${REPLY_TEXTS.followsBelow.en}`,
])('merged questions are answered by the message of the newest one, and the others point to it: %j', (pointer) => {
  const ledger = kept();
  ledger.messages = [shown(1, pointer), shown(2, whole(1, 1, 2))];
  ledger.samplings = [sampling(1, [1, 2])];
  expect(judge(ledger)).toMatchObject({ violations: [], answered: 2, merged: 1 });
});

test.each(['', '<think>ℹ️ AI-generated</think>\n'])(
  'an answer that the platform refused may begin the next reply, which is judged separately: %j',
  (notes) => {
    const ledger = kept();
    const both = notes + [REPLY_TEXTS.earlierAnswer.en, whole(1, 1), '---', whole(2, 2)].join('\n\n');
    ledger.messages = [shown(2, both)];
    expect(judge(separateLeftovers(ledger))).toMatchObject({ violations: [], answered: 2, merged: 0 });
    ledger.messages = [shown(2, both.replace('S1w1', 'S2w1'))];
    expect(kindsOf(separateLeftovers(ledger))).toContain('joined');
  },
);

test('a question without a visible sign before the next one was sent may be answered after it, one at a time', () => {
  const ledger = kept();
  ledger.events[0]!.acknowledgedAtMs = 2_450;
  ledger.samplings[0] = sampling(1, [1], { startedAtMs: 2_410, endedAtMs: 2_480, inPrompt: [2, 1] });
  ledger.samplings[1]!.inPrompt = [2];
  expect(judge(ledger).violations).toEqual([]);
  ledger.samplings[0].startedAtMs = 2_390;
  expect(kindsOf(ledger)).toEqual(['out of order']);
});

describe('violations of each invariant', () => {
  test.each<[string, (ledger: Ledger) => void, string[]]>([
    ['an acknowledged question without an answer', (ledger) => ledger.messages.pop(), ['lost']],
    ['an answer that never ends', (ledger) => (ledger.messages[1]!.isFinal = false), ['unfinished']],
    ['a ledger without the answer', ({ events }) => (events[1]!.record!.state = 'accepted'), ['unfinished']],
    ['two answers to one question', ({ messages }) => messages.push(shown(2, whole(2, 2))), ['repeated']],
    [
      'an answer together with an apology',
      ({ messages }) => messages.push(shown(2, TURN_TEXTS.deadLetter.en)),
      ['unexplained', 'repeated'],
    ],
    ['the answer of another conversation', ({ events }) => (events[0]!.conversation = 8), ['crossed']],
    ['another conversation in a prompt', ({ samplings }) => samplings[1]!.foreign.push(8), ['crossed']],
    ['another conversation in a summary', ({ summaries }) => summaries[0]!.conversations.push(8), ['crossed']],
    [
      'a snapshot that joins two model calls',
      ({ messages }) => messages[1]!.snapshots.unshift({ atMs: 0, text: 'S1w0 Q2 S2w1' }),
      ['joined'],
    ],
    [
      'a word that was appended twice',
      ({ messages }) => messages[1]!.snapshots.unshift({ atMs: 0, text: 'S2w0 Q2 S2w1 S2w1' }),
      ['joined'],
    ],
    [
      'an end in the middle without a notice',
      ({ messages }) => (messages[1]!.snapshots[0]!.text = 'S2w0 Q2 C7 S2w1'),
      ['joined'],
    ],
    [
      'a question asked before the previous one was answered',
      ({ samplings }) => (samplings[1]!.startedAtMs = 1_200),
      ['out of order'],
    ],
    ['a history in another order', ({ samplings }) => (samplings[1]!.inPrompt = [2, 1]), ['out of order']],
    ['a history that contains a turn twice', ({ samplings }) => (samplings[1]!.inPrompt = [1, 1, 2]), ['repeated']],
    [
      'an apology without a reason',
      ({ messages }) => (messages[1]!.snapshots[0]!.text = TURN_TEXTS.chatDown.en),
      ['unexplained'],
    ],
    [
      'an answer that moved although the platform refused nothing',
      ({ messages }) => messages.push(shown(2, REPLY_TEXTS.movedBelow.zh)),
      ['unexplained'],
    ],
    ['an unknown text', ({ messages }) => (messages[1]!.snapshots[0]!.text = 'Hello.'), ['unexplained', 'lost']],
    ['an end without any text', ({ messages }) => (messages[1]!.snapshots = []), ['unexplained', 'lost']],
  ])('%s', (_name, spoil, kinds) => {
    const ledger = kept();
    spoil(ledger);
    expect(kindsOf(ledger)).toEqual(kinds);
  });
});

describe('violations by open or unfinished messages at the end of a run', () => {
  const detailsOf = (spoil: (ledger: Ledger) => unknown) => {
    const ledger = kept();
    spoil(ledger);
    return judge(ledger).violations.map(
      ({ kind, event: about, detail }) => `${kind} Q${about}: ${detail.split(';')[0]}`,
    );
  };
  const refused = (ledger: Ledger) => delete ledger.events[1]!.acknowledgedAtMs;

  test.each<[string, (ledger: Ledger) => unknown, string[]]>([
    [
      'a stream that grows on next to its answer',
      ({ messages }) => messages.push({ ...shown(2), event: undefined, isFinal: false, isOpen: true }),
      ['unfinished Q0: its visible message is open'],
    ],
    [
      'a stream of a refused question',
      (ledger) => [refused(ledger), (ledger.messages[1]!.isOpen = true)],
      ['unfinished Q2: its visible message is open'],
    ],
    [
      'a live reply of a refused question',
      (ledger) => [refused(ledger), (ledger.messages[1]!.isFinal = false)],
      ['unfinished Q2: its visible message was never finished'],
    ],
    [
      'a refused question that was stored and waits',
      (ledger) => [refused(ledger), ledger.messages.pop(), (ledger.events[1]!.record!.state = 'accepted')],
      ['unfinished Q2: at rest, but the ledger says accepted, answered by Q2'],
    ],
    [
      'a question that was given up, which does not count as open',
      ({ events, messages }) => {
        events[1]!.record!.state = 'dead';
        messages[1] = shown(2, TURN_TEXTS.deadLetter.en);
      },
      ['unexplained Q2: it says deadLetter, but no external fault occurred'],
    ],
    [
      'a status line',
      (ledger) => (ledger.statusesLeft = [{ event: 2, text: 'is thinking…' }]),
      ['unfinished Q2: a line below it still says: is thinking…'],
    ],
  ])('%s', (_name, spoil, details) => {
    expect(detailsOf(spoil)).toEqual(details);
  });

  test('do not include a refused question that was neither stored nor shown', () => {
    expect(detailsOf((ledger) => [refused(ledger), ledger.messages.pop(), delete ledger.events[1]!.record])).toEqual(
      [],
    );
  });
});

test('order is checked within one conversation, and a change of the group scope between two questions makes two', () => {
  const ledger = kept();
  ledger.samplings[1]!.startedAtMs = 1_200;
  expect(kindsOf(ledger)).toEqual(['out of order']);
  const roll = { kind: 'roll' as const, target: 'deployment', atMs: 1_500 };
  ledger.injectedFaults = [{ ...roll, detail: 'new-key', untilMs: 1_600 }];
  expect(kindsOf(ledger)).toEqual(['out of order']);
  ledger.injectedFaults = [{ ...roll, detail: 'group-scope', untilMs: 1_600 }];
  expect(kindsOf(ledger)).toEqual([]);
  ledger.injectedFaults = [{ ...roll, detail: 'group-scope', atMs: 100, untilMs: 200 }];
  expect(kindsOf(ledger)).toEqual(['out of order']);
});

test('an apology is explained only by a fault of the chat service or of the connection to it', () => {
  const ledger = kept();
  ledger.messages[1]!.snapshots[0]!.text = TURN_TEXTS.chatDown.en;
  ledger.injectedFaults = [{ atMs: 2_000, kind: 'kill', target: 'worker1', detail: '' }];
  expect(kindsOf(ledger)).toEqual(['unexplained']);
  ledger.injectedFaults = [{ atMs: 2_000, untilMs: 2_400, kind: 'link', target: 'worker1 chat', detail: '' }];
  expect(judge(ledger)).toMatchObject({ violations: [], apologies: { chatDown: 1 } });
  ledger.messages[1]!.snapshots[0]!.text = withoutSlashes(TURN_TEXTS.chatDown.en);
  expect(judge(ledger)).toMatchObject({ violations: [], apologies: { chatDown: 1 } });
  ledger.injectedFaults = [];
  ledger.samplings[1]!.ending = 'refused';
  expect(kindsOf(ledger)).toEqual([]);
});

describe('outcomes caused by the environment or by poison', () => {
  const saying = (text: string, more: Partial<Ledger> = {}): Ledger => {
    const ledger = { ...kept(), ...more };
    ledger.messages[1]!.snapshots.at(-1)!.text = text;
    return ledger;
  };
  const { deadLetter, waitsForCapacity } = TURN_TEXTS;
  const notRead = FILE_TEXTS.not_read.en.replace('{file}', 'notes.txt');
  const unreachable = FILE_TEXTS.unreachable.en.replace('{file}', 'notes.txt');
  const slackLink = { atMs: 1_000, untilMs: 2_000, kind: 'link' as const, target: 'worker-1 slack', detail: '' };
  const killReaders = {
    atMs: 1_000,
    untilMs: 2_000,
    kind: 'kill-readers' as const,
    target: 'surroundings',
    detail: '',
  };

  test.each<[string, Ledger, string[]]>([
    ['a question that kills its workers is given up', saying(deadLetter.en, { poisons: [2] }), []],
    ['an innocent question is given up', saying(deadLetter.en, { poisons: [1] }), ['unexplained']],
    ['a file is not read while readers are killed', saying(notRead, { injectedFaults: [killReaders] }), []],
    ['a file is not read without a reason', saying(notRead), ['unexplained']],
    ['a file cannot be downloaded from a broken link', saying(unreachable, { injectedFaults: [slackLink] }), []],
    ['a file cannot be downloaded without a reason', saying(unreachable), ['unexplained']],
    ['a status is the last text of a message', saying(`<think>ℹ️ ${waitsForCapacity.en}`), ['unexplained', 'lost']],
    ['a thought is shown', saying(`${THOUGHT} ${whole(2, 2)}`), ['unexplained']],
    [
      'a full engine does not excuse an apology',
      saying(TURN_TEXTS.chatBusy.en, { samplings: [sampling(2, [2], { ending: 'full' })] }),
      ['unexplained'],
    ],
  ])('%s', (_, ledger, kinds) => {
    expect(kindsOf(ledger)).toEqual(kinds);
  });

  test.each([
    ['cut', []],
    ['left', ['unexplained']],
  ] as const)('include a late interrupted answer whose call was %s: %j', (ending, kinds) => {
    const ledger = saying(`S2w0 Q2 C7 S2w1 ${TURN_TEXTS.interrupted.en}`);
    ledger.samplings[1]!.ending = ending;
    ledger.messages[1]!.snapshots.at(-1)!.atMs += 200_000;
    expect(kindsOf(ledger)).toEqual(kinds);
  });

  test.each([
    ['again much later', 2, []],
    ['only much later', 1, ['unexplained']],
  ])('include an interrupted answer after a fault on the way to the engine that is shown %s', (_, times, kinds) => {
    const text = `S2w0 Q2 C7 S2w1 ${TURN_TEXTS.interrupted.en}`;
    const chatLink = { ...slackLink, target: 'worker1 chat' };
    const ledger = saying(text, { injectedFaults: [chatLink] });
    const { snapshots } = ledger.messages[1]!;
    snapshots.splice(0, 1, ...Array.from({ length: times }, () => ({ ...snapshots[0]! })));
    snapshots.at(-1)!.atMs += 200_000;
    ledger.samplings[1]!.ending = 'left';
    expect(kindsOf(ledger)).toEqual(kinds);
  });

  test('do not include a status before the answer', () => {
    const ledger = kept();
    ledger.messages[1] = shown(2, `<think>ℹ️ ${waitsForCapacity.en}</think>`, whole(2, 2));
    expect(kindsOf(ledger)).toEqual([]);
  });
});

describe('the recovery time after a kill', () => {
  const kill = (atMs: number, target: string) => ({ atMs, kind: 'kill' as const, target, detail: '' });
  const twice = (): Ledger => ({
    ...kept(),
    samplings: [
      sampling(1, [1], { worker: 'worker1.1', ending: 'left', endedAtMs: 1_201 }),
      sampling(2, [1], { worker: 'worker2.1', startedAtMs: 14_000, endedAtMs: 14_200 }),
    ],
    messages: [{ ...shown(1), snapshots: [{ atMs: 15_000, text: whole(2, 1) }] }],
  });

  test('ignores kills before the question, of other workers and of later processes of the same worker', () => {
    const ledger = twice();
    const others = [
      kill(900, 'worker1.1'),
      kill(1_250, 'worker2.1'),
      kill(5_000, 'worker1.2'),
      kill(1_350, 'worker3.1'),
    ];
    ledger.injectedFaults = [...others, kill(1_200, 'worker1.1')];
    expect(recoveryTimes(ledger, 'kill')).toMatchObject([
      { event: 1, ms: 13_800, isDoubtful: false, hasWaited: false },
    ]);
  });

  test.each([
    ['engine-full', 9_000, 14_500, true, 'other'],
    ['redis-refuse', 1_300, 3_000, true, 'other'],
    ['engine-full', 15_500, 16_000, false, 'other'],
    ['kill-readers', 14_000, undefined, false, 'other'],
    ['link', 13_000, 14_500, true, 'worker2.1 chat'],
    ['link', 13_000, 14_500, false, 'worker2.1 slack'],
    ['link', 13_000, 14_500, false, 'worker3.1 chat'],
  ] as const)(
    'records whether the turn waited for others with %s from %d until %p: %p',
    (what, atMs, untilMs, hasWaited, target) => {
      const ledger = twice();
      ledger.injectedFaults = [
        kill(1_200, 'worker1.1'),
        { atMs, kind: what, target, detail: '', ...(untilMs && { untilMs }) },
      ];
      expect(recoveryTimes(ledger, 'kill')).toMatchObject([{ event: 1, ms: 13_800, isDoubtful: false, hasWaited }]);
    },
  );

  test.each([
    ['wecom', 14_300, 700],
    ['wecom', 14_100, 13_800],
    ['slack', 14_300, 13_800],
  ] as const)('of %s with a receiver killed at %d is %d ms', (platform, atMs, ms) => {
    const ledger = twice();
    const trace = { steps: [{ atMs: 14_200, step: 'ended', values: {} }] };
    ledger.events = ledger.events.map((event) => ({ ...event, platform, traces: [trace] as never }));
    ledger.injectedFaults = [kill(1_200, 'worker1.1'), kill(atMs, 'receiver1.1')];
    expect(recoveryTimes(ledger, 'kill')).toMatchObject([{ ms }]);
  });

  test('counts a worker that had resumed the turn but not yet called the model', () => {
    const ledger = twice();
    ledger.resumptions = [{ atMs: 8_000, worker: 'worker3.4', turn: 1 }];
    ledger.injectedFaults = [kill(1_200, 'worker1.1'), kill(8_500, 'worker3.4')];
    expect(recoveryTimes(ledger, 'kill')).toMatchObject([{ event: 1, ms: 6_500, isDoubtful: false, hasWaited: false }]);
  });

  test('starts at the first kill of a worker since the question if it died between the claim and the model call', () => {
    const ledger = twice();
    ledger.samplings.shift();
    ledger.resumptions = [{ atMs: 13_900, worker: 'worker2.1', turn: 1 }];
    const before = [kill(990, 'worker1.1'), kill(1_100, 'receiver1.1')];
    ledger.injectedFaults = [...before, kill(1_200, 'worker1.1'), kill(2_000, 'worker3.1')];
    expect(recoveryTimes(ledger, 'kill')).toMatchObject([
      { event: 1, ms: 13_800, isDoubtful: false, hasWaited: false },
    ]);
  });

  test('starts at the last restart of Redis between the kill and the answer', () => {
    const ledger = twice();
    const restart = (atMs: number) => ({ atMs, kind: 'redis-kill' as const, target: 'redis', detail: '' });
    ledger.injectedFaults = [restart(1_100), kill(1_200, 'worker1.1'), restart(9_000), restart(15_500)];
    expect(recoveryTimes(ledger, 'kill')).toMatchObject([{ event: 1, ms: 6_000, isDoubtful: false, hasWaited: false }]);
    ledger.injectedFaults = [restart(9_000)];
    expect(recoveryTimes(ledger, 'kill')).toEqual([]);
  });

  test('counts a worker that claimed the turn and died before the model call, by the claims of the product', () => {
    const ledger = twice();
    const claims = [1_050, 8_000, 13_900].map((atMs, index) => ({ atMs, instance: `a${index}` }));
    ledger.events[0]!.record = { state: 'final', answeredBy: 1, claims };
    ledger.instances = { a0: 'worker1.1', a1: 'worker3.4', a2: 'worker2.1' };
    ledger.injectedFaults = [kill(1_200, 'worker1.1'), kill(7_000, 'worker3.4'), kill(8_500, 'worker3.4')];
    expect(recoveryTimes(ledger, 'kill')).toMatchObject([{ event: 1, ms: 6_500, isDoubtful: false, hasWaited: false }]);
    // The life of a claim is not known.
    delete ledger.instances['a1'];
    expect(recoveryTimes(ledger, 'kill')).toMatchObject([
      { event: 1, ms: 13_800, isDoubtful: false, hasWaited: false },
    ]);
  });

  const hold = '{"kind":"hold","heals":true}';
  test.each([
    ['freeze', 'worker2.1', '', 13_500, 1_500],
    ['link', 'worker2.1 redis', hold, 13_500, 1_500],
    ['link', 'worker2.1 redis', '{"kind":"delay","delayMs":100}', 13_500, 13_800],
    ['link', 'worker2.1 slack', hold, 13_500, 13_800],
    ['freeze', 'worker1.1', '', 13_500, 13_800],
    ['freeze', 'worker2.1', '', 12_500, 13_800],
    ['freeze', 'receiver1.1', '', 14_300, 700],
    ['freeze', 'receiver1.1', '', 14_100, 13_800],
  ] as const)('after the last stop of %s of %s %s at %d is %d ms', (kind, target, detail, atMs, afterLastStopMs) => {
    const ledger = twice();
    const trace = { steps: [{ atMs: 14_200, step: 'ended', values: {} }] };
    ledger.events = ledger.events.map((event) => ({ ...event, platform: 'wecom', traces: [trace] as never }));
    ledger.samplings[1]!.startedAtMs = 13_000;
    ledger.injectedFaults = [kill(1_200, 'worker1.1'), { atMs, kind, target, detail }];
    expect(recoveryTimes(ledger, 'kill')).toMatchObject([{ ms: 13_800, afterLastStopMs }]);
  });

  test('is not extended by a repeated edit with the same text', () => {
    const ledger = twice();
    const text = whole(2, 1);
    ledger.messages = [{ ...shown(1), snapshots: [15_000, 49_000].map((atMs) => ({ atMs, text })) }];
    ledger.injectedFaults = [kill(1_200, 'worker1.1')];
    expect(recoveryTimes(ledger, 'kill')).toMatchObject([
      { event: 1, ms: 13_800, isDoubtful: false, hasWaited: false },
    ]);
  });

  test('ends with an apology in place of the answer', () => {
    const ledger = twice();
    ledger.samplings[1]!.ending = 'refused';
    ledger.messages = [{ ...shown(1), snapshots: [{ atMs: 15_000, text: TURN_TEXTS.chatDown.en }] }];
    ledger.injectedFaults = [kill(1_200, 'worker1.1')];
    expect(recoveryTimes(ledger, 'kill')).toMatchObject([
      { event: 1, ms: 13_800, isDoubtful: false, hasWaited: false },
    ]);
  });
});

test('the text of a question contains its number and its conversation', () => {
  expect(questionText({ id: 12, conversation: 7 })).toBe('Q12 C7 please');
});
