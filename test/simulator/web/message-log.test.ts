import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { MessageState } from '../../../src/simulator/api.ts';
import {
  insertByTime,
  isLocalOnly,
  mergeFetched,
  rowKeyOf,
  withAcceptance,
  withChange,
  withEvent,
  withFailure,
  type LoggedMessage,
  type MessageLog,
} from '../../../src/simulator/web/message-log.ts';
import { messageView } from './sample-views.ts';

const own = (localId: string, text = 'Hi'): LoggedMessage => ({
  ...messageView({ id: localId, sender: 'alice', state: 'sending', text, atMs: 10 }),
  localId,
});
const server = (id: string, text = 'Hi', state: MessageState = 'sent', clientId?: string) =>
  messageView({ id, sender: 'alice', state, text, atMs: 12, ...(clientId === undefined ? {} : { clientId }) });

describe('an own message', () => {
  test('keeps its row when the server accepts it', () => {
    const log = withAcceptance([own('local-1')], 'local-1', server('m1'));
    expect(log.map(rowKeyOf)).toEqual(['local-1']);
    expect(log[0]).toMatchObject({ id: 'm1', state: 'sent' });
  });

  test('is one row when its event arrives before the response, and never returns to an older state', () => {
    const overtaken = withEvent([own('local-1')], server('m1', 'Hi', 'sent', 'local-1'));
    const log = withAcceptance(overtaken, 'local-1', server('m1', 'Hi', 'sending', 'local-1'));
    expect(log).toHaveLength(1);
    expect(log[0]).toMatchObject({ id: 'm1', localId: 'local-1', state: 'sent' });
  });

  test('of another person with the same text does not take over the waiting row', () => {
    const log = withEvent([own('local-1')], { ...server('m9'), sender: 'bob' });
    expect(log).toHaveLength(2);
    expect(log.filter(isLocalOnly)).toHaveLength(1);
  });

  test('that was never sent survives a fetch', () => {
    const failed = withChange([own('local-1')], 'local-1', { state: 'failed' });
    expect(mergeFetched(failed, [server('m1')]).map(({ state }) => state)).toEqual(['failed', 'sent']);
  });

  test('that was given up is one row with its late success, in any order of response and event', () => {
    const late = server('m1', 'Hi', 'sent', 'local-1');
    const steps = [
      (log: MessageLog) => withFailure(log, 'local-1', { failureCode: 'unreachable' }),
      (log: MessageLog) => withEvent(log, late),
      (log: MessageLog) => withAcceptance(log, 'local-1', { ...late, state: 'sending' }),
      (log: MessageLog) => mergeFetched(log, [late]),
    ];
    fc.assert(
      fc.property(fc.shuffledSubarray(steps, { minLength: 2 }), (order) => {
        const log = order.reduce<MessageLog>((before, step) => step(before), [own('local-1')]);
        expect(log.map(({ id, localId, failureCode }) => [id, localId, failureCode])).toEqual([
          ['m1', 'local-1', undefined],
        ]);
        expect(log[0]?.state).not.toBe('failed');
      }),
    );
  });

  test('is two rows when it is sent twice with the same text, in any order of responses', () => {
    const waiting: MessageLog = [own('local-1'), own('local-2')];
    const steps = [
      (log: MessageLog) => withEvent(log, server('m1', 'Hi', 'sent', 'local-1')),
      (log: MessageLog) => withEvent(log, server('m2', 'Hi', 'sent', 'local-2')),
      (log: MessageLog) => withAcceptance(log, 'local-1', server('m1')),
      (log: MessageLog) => withAcceptance(log, 'local-2', server('m2')),
    ];
    fc.assert(
      fc.property(fc.shuffledSubarray(steps, { minLength: 4 }), (order) => {
        const log = order.reduce<MessageLog>((before, step) => step(before), waiting);
        expect(log.map(({ id }) => id).sort()).toEqual(['m1', 'm2']);
      }),
    );
  });
});

describe('a fetched list', () => {
  const view = fc.record({
    id: fc.constantFrom('a', 'b', 'c', 'd'),
    state: fc.constantFrom<MessageState>('streaming', 'final'),
    text: fc.string({ maxLength: 5 }),
    atMs: fc.nat(20),
  });
  const views = fc.uniqueArray(view, { selector: ({ id }) => id }).map((list) => list.map((one) => messageView(one)));

  test('never removes an answer, duplicates none, and keeps the time order', () => {
    fc.assert(
      fc.property(views, views, (shown, fetched) => {
        const log = shown.reduce<MessageLog>(insertByTime, []);
        const merged = mergeFetched(log, fetched);
        expect(new Set(merged.map(({ id }) => id)).size).toBe(merged.length);
        for (const before of log) {
          const after = merged.find(({ id }) => id === before.id);
          if (before.state === 'final') expect(after?.state).toBe('final');
          if (after?.state === 'streaming') expect(after.text.length).toBeGreaterThanOrEqual(before.text.length);
        }
      }),
    );
  });

  test('replaces a growing answer by the finished one', () => {
    const log = mergeFetched(
      [messageView({ state: 'streaming', text: 'longer than' })],
      [messageView({ text: 'short' })],
    );
    expect(log).toMatchObject([{ state: 'final', text: 'short' }]);
  });
});

test('messages are sorted by time, and equal times by arrival', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(5)), (times) => {
      const log = times.reduce<MessageLog>(
        (before, atMs, index) => insertByTime(before, messageView({ id: `m${index}`, atMs })),
        [],
      );
      const expected = times
        .map((atMs, index) => ({ atMs, index }))
        .sort((a, b) => a.atMs - b.atMs || a.index - b.index);
      expect(log.map(({ id }) => id)).toEqual(expected.map(({ index }) => `m${index}`));
    }),
  );
});
