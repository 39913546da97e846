import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { MINUTE_MS } from '../../../src/shared/clock.ts';
import { messageKey } from '../../../src/bot/domain/partition-keys.ts';
import { conversationOf } from '../../../src/bot/domain/conversation.ts';
import type { InboundStop, InboundMessage } from '../../../src/bot/domain/message.ts';
import { Inbox } from '../../../src/bot/queue/accept.ts';
import { stopRunning } from '../../../src/bot/queue/stop-running.ts';
import { createPostLedger } from '../../../src/bot/reply/post-ledger.ts';
import type { TurnStore } from '../../../src/bot/queue/turn-store.ts';
import { type TurnClaim } from '../../../src/bot/domain/turn.ts';
import { testKeyRing, textMessage } from '../../support/messages.ts';
import { useTestRedis } from '../../support/use-test-redis.ts';
import { DyingWorkersStore } from '../../support/dying-workers.ts';

const keyRing = testKeyRing();
const channel = { kind: 'group', id: 'C1' } as const;
const BOT = { name: 'wecom', tenant: 'corp', app: 'bot' } as const;
const HANDLE = 'C1/17.5';

const server = useTestRedis();
let inbox: Inbox;
let store: TurnStore;
let stops = 0;

beforeAll(async () => {
  const options = { redis: server.redis, keyRing, nowMs: () => 1_800_000_000_000 };
  inbox = new Inbox(options);
  store = new DyingWorkersStore({ ...options, historyLifeMs: MINUTE_MS });
});
beforeEach(() => server.redis.flushall().then(() => undefined));

async function accept(message: InboundMessage): Promise<InboundMessage> {
  expect((await inbox.accept(conversationOf(message, 'member'), message)).result).toBe('new');
  return message;
}
const ask = (text: string) => accept(textMessage(text, { chat: channel }));
const stopIn = ({ messageId }: InboundMessage, userId = 'alice') =>
  accept(
    textMessage('/stop', {
      sender: { userId },
      chat: { ...channel, threadId: messageId },
      threadBegunBy: messageId,
    }),
  );
async function claimOf(message: InboundMessage): Promise<TurnClaim> {
  const claim = await store.begin(conversationOf(message, 'member'));
  if (!claim) throw new Error('nothing waits');
  return claim;
}
const wasStopped = async (claim: TurnClaim) => (await store.renew(claim))?.wasStopped;

describe('a stop word in the thread that an answer opens [no-second-beginning]', () => {
  test('is seen by the turn at its next renewal after a missed publication, and by a worker that takes over', async () => {
    const question = await ask('a question');
    const claim = await claimOf(question);
    expect([claim.wasStopped, await wasStopped(claim)]).toEqual([false, false]);
    const stop = await stopIn(question);
    expect(await wasStopped(claim)).toBe(true);
    expect((await claimOf(question)).wasStopped).toBe(true);
    const own = await claimOf(stop);
    expect(own.stop.servedSeq).toBe(own.messages[0]?.seq);
  });

  test('stops a turn of several merged messages through any of them', async () => {
    const [first] = [await ask('one'), await ask('two')];
    await stopIn(first);
    const claim = await claimOf(first);
    expect(claim.messages).toHaveLength(2);
    expect([claim.wasStopped, await wasStopped(claim)]).toEqual([true, true]);
  });

  test('does not stop another person’s question or an answered one', async () => {
    const question = await ask('a question');
    const claim = await claimOf(question);
    const others = await stopIn(question, 'bob');
    expect(await wasStopped(claim)).toBe(false);
    const answerTo = async (stop: InboundMessage) => {
      const own = await claimOf(stop);
      await store.commit(own, { outcome: 'final', records: [] });
      return own.stop.servedSeq;
    };
    expect(await answerTo(others)).toBe(0);
    await store.commit(claim, { outcome: 'final', records: [] });
    expect(await answerTo(await stopIn(question))).toBe(0);
    expect(await server.redis.hget(recordOf(claim), 'stopped')).toBeNull();
  });
});

describe('a stop without a message of its own [slack-assistant]', () => {
  const stop = (more: Partial<InboundStop> = {}): InboundStop => {
    stops += 1;
    return { stopId: `stop${stops}`, chat: channel, sender: { userId: 'alice' }, shownAt: [HANDLE], ...more };
  };
  const press = (one: InboundStop) => stopRunning(server.redis, BOT, one, 'member');
  const shown = async (handle: string, part = 0) => {
    const question = await ask('a question');
    const claim = await claimOf(question);
    await server.redis.hset(recordOf(claim), `post:${part}`, handle);
    return { question, claim };
  };

  test.each([HANDLE, `${HANDLE}/1800000000000`])('ends the answer posted at %s', async (handle) => {
    const { claim } = await shown(handle);
    expect(await press(stop())).toBe(true);
    expect(await wasStopped(claim)).toBe(true);
  });

  test.each(['unsent', 'posting'].flatMap((state) => ([0, 1] as const).map((part) => ({ state, part }))))(
    'waits in the record while part $part is $state, and ends the answer once its place is stored [acknowledged-when-stored]',
    async ({ state, part }) => {
      const question = await ask('a question');
      const claim = await claimOf(question);
      const { conversation, epoch, turnId } = claim;
      const place = { redis: server.redis, place: 'C1', doubtedAgeMs: 0 };
      const ledger = createPostLedger({ ...place, conversation, epoch, deliveryId: turnId });
      if (part === 1) await ledger.record(0, 'C1/1');
      if (state === 'posting') await ledger.begin(part);
      const early = stop();
      const waits = state === 'posting' || part === 0;
      expect([await press(early), await wasStopped(claim)]).toEqual([waits, false]);
      await ledger.record(part, 'C1/2');
      expect(await wasStopped(claim)).toBe(false);
      await ledger.record(part, `${HANDLE}/7`);
      expect(await wasStopped(claim)).toBe(waits);
    },
  );

  test('finds the answer by the question of its thread, or by a later part of a long answer', async () => {
    const { question, claim } = await shown('C1/16.4');
    await server.redis.hset(recordOf(claim), 'post:1', HANDLE);
    const { messageId } = question;
    const chat = { ...channel, threadId: messageId };
    expect(await press(stop({ chat, threadBegunBy: messageId }))).toBe(true);
    expect(await wasStopped(claim)).toBe(true);
  });

  test.each([
    ['another person', { sender: { userId: 'bob' } }],
    ['the button of another message', { shownAt: ['C1/17.55', 'C1/17'] }],
    ['a press that names no message', { shownAt: ['posting'] }],
  ] as const)('is refused: %s', async (_, more) => {
    const { question, claim } = await shown(HANDLE);
    const chat = { ...channel, threadId: question.messageId };
    expect(await press(stop({ ...(more as object) }))).toBe(false);
    expect(await press(stop({ chat, threadBegunBy: question.messageId, ...(more as object) }))).toBe(false);
    expect(await wasStopped(claim)).toBe(false);
  });

  test.each([
    { when: 'sent before the question', chatOrder: 199, isStopped: false },
    { when: 'sent after the question', chatOrder: 201, isStopped: true },
    { when: 'without a time', chatOrder: undefined, isStopped: true },
  ])('that arrives after a question and was $when stops it: $isStopped', async ({ chatOrder, isStopped }) => {
    const question = await accept(textMessage('a question', { chat: channel, chatOrder: 200 }));
    const claim = await claimOf(question);
    await server.redis.hset(recordOf(claim), 'post:0', HANDLE);
    expect(await press(stop({ chatOrder }))).toBe(isStopped);
    expect(await wasStopped(claim)).toBe(isStopped);
  });

  test('counts once, and its repetition ends no later answer', async () => {
    const word = stop();
    delete word.shownAt;
    expect(await press(word)).toBe(false);
    const { claim } = await shown(HANDLE);
    expect(await press(word)).toBe(false);
    expect(await wasStopped(claim)).toBe(false);
    const { shownAt: _any, ...fresh } = stop();
    expect(await press(fresh)).toBe(true);
  });
});

function recordOf({ conversation, turnId }: TurnClaim): string {
  return messageKey(conversation.partition, turnId);
}

describe('a stop word with the platform’s time', () => {
  const said = (text: string, saidAtMs: number) => accept(textMessage(text, { saidAtMs }));
  const stopOf = async (message: InboundMessage) => {
    const claim = await claimOf(message);
    return (await store.renew(claim))?.stop.seq ?? 0;
  };

  test('ends no newer question when it was sent before it but arrives later', async () => {
    await said('an old question', 10_000);
    const newer = await said('a new question', 30_000);
    await said('/stop', 20_000);
    expect(await stopOf(newer)).toBe(0);
  });

  test.each([
    ['sent after it', 40_000],
    // WeCom gives times in whole seconds.
    ['sent in the same second', 30_000],
  ])('ends a question when it was %s', async (_when, atMs) => {
    const question = await said('a question', 30_000);
    await said('/stop', atMs);
    expect(await stopOf(question)).toBeGreaterThan(0);
  });

  test('ends the questions that arrived before it when the platform gives no time', async () => {
    const question = await said('a question', 30_000);
    await accept(textMessage('/stop'));
    expect(await stopOf(question)).toBeGreaterThan(0);
  });
});
