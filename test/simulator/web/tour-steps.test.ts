import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { LoggedMessage } from '../../../src/simulator/web/message-log.ts';
import { keepProgress, readProgress, withSteps } from '../../../src/simulator/web/tour/tour-progress.ts';
import { answersBeside, STEPS, stepsSeen } from '../../../src/simulator/web/tour/what-happened.ts';
import { neighbourOf } from '../../../src/simulator/web/tour/neighbour.ts';
import { ALICE, BOB, CHEN, GROUP, messageView, PRIVATE } from './sample-views.ts';

const own = (text: string, more: Partial<LoggedMessage> = {}) =>
  messageView({ sender: 'alice', state: 'sent', text, ...more });
const bot = (text: string, more: Partial<LoggedMessage> = {}) => messageView({ text, ...more });
const seen = (privately: LoggedMessage[], inGroup: LoggedMessage[] = []) =>
  stepsSeen({
    logs: { [PRIVATE.id]: privately, [GROUP.id]: inGroup },
    conversations: [PRIVATE, GROUP],
    personId: 'alice',
    botName: 'Parley',
  });
const invitation = bot('Please sign in: http://127.0.0.1:8080/link/abcdefgh', { state: 'streaming' });

test('a step is done when its event occurs: asked, signed in, mentioned, image shown, stopped early, asked again', () => {
  expect(seen([])).toEqual([]);
  expect(seen([own('Hello', { state: 'sending' })])).toEqual([]);
  expect(seen([own('Hello'), invitation])).toEqual(['ask']);
  expect(seen([own('/help'), bot('I can do this')])).toEqual(['ask']);
  expect(seen([own('Hello'), bot('Hello, Alice')])).toEqual(['ask', 'signIn']);
  expect(seen([], [own('Hello all')])).toEqual([]);
  expect(seen([], [own('@parley hello')])).toEqual(['mention']);
  expect(seen([], [{ ...own('@Parley hello'), sender: 'bob' }])).toEqual([]);
  expect(seen([own('', { images: [{ url: '/i', alt: '' }] })])).toEqual(['ask', 'image']);
  expect(seen([bot('1 2', { note: 'Stopped.', state: 'streaming' })])).toEqual([]);
  expect(seen([bot('1 2', { note: '已停止。' })])).toEqual(['stop']);
  expect(seen([], [own('@Parley /retry')])).toEqual(['mention', 'tryAgain']);
  expect(seen([own('重试')])).toEqual(['ask', 'tryAgain']);
});

test('only the answers to the same question are counted', () => {
  const log = [own('a', { id: 'q1' }), bot('one', { id: 'a1' }), bot('two', { id: 'a2' }), own('b', { id: 'q2' })];
  expect(answersBeside(log, 'a1')).toBe(2);
  expect(answersBeside([...log, bot('three', { id: 'a3' })], 'a3')).toBe(1);
});

const storageWith = (text: string | null) => {
  let kept = text;
  return { getItem: () => kept, setItem: (_name: string, value: string) => void (kept = value) };
};

test('progress stored by another tab between two writes is kept', () => {
  const storage = storageWith(null);
  const atOurStart = readProgress(storage);
  keepProgress(storage, withSteps(atOurStart, ['ask', 'signIn']));
  keepProgress(storage, atOurStart);
  expect(readProgress(storage)).toEqual({ done: ['ask', 'signIn'], isHidden: false });
});

test('stored progress is read again, and invalid data counts as empty', () => {
  const stored = (text: string | null) => readProgress(storageWith(text));
  fc.assert(
    fc.property(fc.subarray([...STEPS]), fc.boolean(), (done, isHidden) => {
      const storage = storageWith(null);
      keepProgress(storage, { done, isHidden });
      expect(readProgress(storage)).toEqual({ done, isHidden });
    }),
  );
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.json()), (text) =>
      expect(STEPS).toEqual(expect.arrayContaining([...stored(text).done])),
    ),
  );
  expect(stored(null)).toEqual({ done: [], isHidden: false });
  const progress = { done: ['ask'] as const, isHidden: false };
  expect(withSteps(progress, ['ask'])).toBe(progress);
  expect(withSteps(progress, ['kill', 'signIn']).done).toEqual(['ask', 'signIn', 'kill']);
});

test('the second user is another person than the current one, or none if there is only one', () => {
  expect([ALICE, BOB, CHEN].map(({ id }) => neighbourOf([ALICE, BOB, CHEN], id))).toEqual([BOB, CHEN, ALICE]);
  expect(neighbourOf([ALICE, BOB, { ...CHEN, isInactive: true }], 'bob')).toEqual(ALICE);
  expect(neighbourOf([ALICE], 'alice')).toBeUndefined();
});
