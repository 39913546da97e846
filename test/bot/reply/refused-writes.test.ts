import { expect, test } from '@jest/globals';
import { setImmediate as endOfTurn } from 'node:timers/promises';
import { RetryPauses } from '../../../src/bot/reply/after-refusal.ts';
import { notShown, until, usePushedFixture } from './pushed-fixture.ts';
import { answerWith, CODES, expectOneWhole, MODES, WHOLE, type Refusals } from './refusals-fixture.ts';

const fixture = usePushedFixture();
const POSITIONS = [0, 1, 2, 3];

test.each(
  MODES.flatMap((mode) => CODES.flatMap((error) => POSITIONS.map((from) => ({ mode, error, from, times: 1 })))),
)(
  '$mode: shows the whole answer once when its write $from is refused once with $error [refused-writes]',
  async ({ mode, ...refusals }) => {
    await answerWith(fixture, mode, refusals);
    expectOneWhole(fixture);
    expect(notShown).toEqual([]);
  },
);

const FOR_GOOD: [string, Refusals][] = [
  'chat.startStream',
  'chat.appendStream',
  'chat.stopStream',
  'chat.update',
  'chat.(?:append|stop)Stream|chat.update',
  'chat.(?:append|stop)Stream|chat.update|chat.delete',
  'chat.postMessage',
  'chat.(?!delete)',
  'files.',
].flatMap((methods) =>
  ['cant_update_message', 'restricted_action', 'msg_too_long', 'a_code_of_tomorrow'].map(
    (error): [string, Refusals] => [methods, { methods: new RegExp(`^(?:${methods})`), error }],
  ),
);

test.each(MODES.flatMap((mode) => FOR_GOOD.map(([methods, refusals]) => ({ mode, methods, refusals, ...refusals }))))(
  '$mode: shows the whole answer once when $methods is permanently refused with $error [refused-writes]',
  async ({ mode, refusals }) => {
    await answerWith(fixture, mode, refusals);
    const { messages } = fixture.slack;
    // Slack itself ends a stream that can be neither ended, deleted nor edited.
    const isLeftOpen = String(refusals.methods).includes('delete') && mode === 'stream';
    if (isLeftOpen) messages.splice(0, messages.length, ...messages.filter(({ isStreaming }) => !isStreaming));
    const isLeftAsItWas = String(refusals.methods).includes('delete') && mode === 'edit';
    if (isLeftAsItWas) messages.splice(0, messages.length, ...messages.filter(({ text }) => text === WHOLE));
    expectOneWhole(fixture);
    expect(notShown).toEqual([]);
  },
);

test('raises one alarm when Slack accepts neither a message nor a file, and shows nothing twice [refused-writes]', async () => {
  await answerWith(fixture, 'stream', { methods: /^(?:chat|files)\./, error: 'is_archived' });
  expect(fixture.slack.messages).toEqual([]);
  expect(notShown).toHaveLength(1);
});

test('shows a notice and raises an alarm when Slack refuses the words of an answer [refused-writes]', async () => {
  fixture.slack.meet(() => undefined);
  const { take } = await fixture.ask('stream');
  const { live, commit } = await take();
  notShown.length = 0;
  fixture.slack.meetCall = ({ args }) =>
    JSON.stringify(args).includes('whole') || 'length' in args ? { kind: 'error', error: 'msg_too_long' } : undefined;
  const records = await live.finish(WHOLE);
  await commit(records);
  expect(fixture.texts()).toEqual([expect.stringMatching(/could not show the answer/)]);
  expect(records[0]?.fields).toEqual(expect.arrayContaining(['delivery', 'refused']));
  expect(notShown).toHaveLength(1);
});

test.each(MODES)(
  '%s: posts one new message with the whole answer when a person deleted the growing one [refused-writes]',
  async (mode) => {
    const { take } = await fixture.ask(mode);
    const { live, commit } = await take();
    live.show({ text: 'One' });
    await new Promise((resolve) => setTimeout(resolve, 50));
    fixture.slack.messages.length = 0;
    live.show({ text: 'One, two' });
    await endOfTurn();
    await commit(await live.finish(WHOLE));
    expectOneWhole(fixture);
  },
);

test('pauses between attempts grow while the platform fails, and start again once it answers', () => {
  const waits = new RetryPauses();
  const pauses = (why: string, times: number) => Array.from({ length: times }, () => waits.after({ pauseMs: 60, why }));
  expect(pauses('uncertain', 3)).toEqual([60, 100, 200]);
  expect(pauses('busy', 8).at(-1)).toBe(15_000);
  expect(pauses('settling', 2)).toEqual([60, 60]);
  expect(pauses('uncertain', 2)).toEqual([60, 100]);
});

test.each(
  MODES.flatMap((mode) =>
    [0, 2, 3, 4].flatMap((call) => (['before', 'after'] as const).map((when) => ({ mode, call, when }))),
  ),
)(
  '$mode: shows the whole answer once when its edits are refused and its worker dies $when call $call [refused-writes]',
  async ({ mode, call, when }) => {
    const methods = /^chat\.(?:appendStream|update)$/;
    await answerWith(fixture, mode, { methods, error: 'cant_update_message' }, { call, when });
    expectOneWhole(fixture);
  },
  20_000,
);

test.each(MODES)(
  '%s: removes a replaced message later when its removal is refused with an unknown code at first [refused-writes]',
  async (mode) => {
    let isRefusing = false;
    fixture.slack.meet((method) => {
      if (!isRefusing || !/^chat\.(?:delete|update|appendStream|stopStream)$/.test(method)) return undefined;
      return { kind: 'error', error: method === 'chat.delete' ? 'a_code_of_tomorrow' : 'cant_update_message' };
    });
    const { take } = await fixture.ask(mode);
    const { live, commit } = await take();
    live.show({ text: 'One' });
    await until(() => fixture.texts()[0] === 'One');
    isRefusing = true;
    await commit(await live.finish(WHOLE));
    expect(fixture.texts()).toEqual(['One', WHOLE]);
    isRefusing = false;
    expect(await fixture.reconcile()).toBe(1);
    expectOneWhole(fixture);
  },
  30_000,
);

test('removes a stream whose post was lost later when its end is refused with an unknown code at first [refused-writes]', async () => {
  let isRefusing = true;
  fixture.slack.meet((method) =>
    isRefusing && method === 'chat.stopStream' ? { kind: 'error', error: 'a_code_of_tomorrow' } : undefined,
  );
  fixture.fault('chat.startStream', { kind: 'cut', when: 'after' });
  const { take } = await fixture.ask('stream', { settlesWithinMs: -3_000 });
  const { live, commit } = await take();
  live.show({ text: 'One' });
  await until(() => fixture.texts()[0] === 'One');
  await commit(await live.finish(WHOLE));
  expect(fixture.texts()).toEqual(['One', WHOLE]);
  // The check stays stored while the removal is refused.
  await expect(fixture.reconcile()).rejects.toThrow();
  isRefusing = false;
  expect(await fixture.reconcile()).toBe(1);
  expectOneWhole(fixture);
}, 30_000);
