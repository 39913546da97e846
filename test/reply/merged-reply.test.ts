import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { MINUTE_MS, SECOND_MS } from '../../src/base/clock.ts';
import { messageKey } from '../../src/base/partition-keys.ts';
import { conversationOf, personIdOf } from '../../src/platforms/conversation-key.ts';
import type { Platform } from '../../src/platforms/platform.ts';
import { createWecom } from '../../src/platforms/wecom/index.ts';
import { Inbox } from '../../src/queue/accept.ts';
import { TurnStore } from '../../src/queue/turn-store.ts';
import { createLiveReply } from '../../src/reply/live-reply.ts';
import { readLiveReply } from '../../src/reply/read-live-reply.ts';
import { REPLY_TEXTS } from '../../src/texts/reply-texts.ts';
import { testKeyRing, textMessage } from '../support/messages.ts';
import { recordingLog, startTestRedis, type TestRedis } from '../support/redis.ts';

const keyRing = testKeyRing();
const { log } = recordingLog();
const BEGIN_MS = 1_800_000_000_000;
const ANSWER = 'The answer to all of them.';
let clockMs = BEGIN_MS;
const nowMs = () => clockMs;
let server: TestRedis;
let store: TurnStore;
let postedLater: string[] = [];

const wecom = createWecom({
  ...{ botToken: 'token', botAesKey: 'abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG', botName: 'Parley' },
  ...{ webhookWindowSec: 300, nowMs, log },
  tokenStore: { read: async () => undefined, write: async () => undefined },
});
const platform: Platform = {
  ...wecom,
  replyLater: async (_handle, text) => {
    postedLater.push(text);
    return 'sent';
  },
};

beforeAll(async () => {
  server = await startTestRedis();
  store = new TurnStore({ redis: server.redis, keyRing, nowMs, historyLifeMs: MINUTE_MS });
});
afterAll(() => server.stop());

/** Messages of one person that wait together and so become one turn; accepted so many milliseconds before it begins. */
async function openMerged(acceptedBeforeMs: number[]) {
  await server.redis.flushall();
  postedLater = [];
  const messages = acceptedBeforeMs.map((_, index) =>
    textMessage(`question ${index}`, { laterReplyHandle: 'https://later.test' }),
  );
  const [first] = messages;
  if (!first) throw new Error('no message');
  const conversation = conversationOf(first, 'member');
  const inbox = new Inbox({ redis: server.redis, keyRing, nowMs });
  const ids: string[] = [];
  for (const [index, message] of messages.entries()) {
    clockMs = BEGIN_MS - (acceptedBeforeMs[index] ?? 0);
    ids.push((await inbox.accept(conversation, message)).deliveryId);
  }
  clockMs = BEGIN_MS;
  const claim = await store.begin(conversation);
  if (!claim) throw new Error('nothing waits');
  const deliveryId = ids.at(-1) ?? '';
  expect(claim.messages.map((one) => one.deliveryId)).toEqual(ids);
  const live = createLiveReply({
    ...{ redis: server.redis, keyRing, platform, nowMs, log, conversation, deliveryId, language: 'en' },
    report: { firstTextShown: () => undefined, replyHandedOver: () => undefined },
    epoch: claim.epoch,
    mergedIds: ids.slice(0, -1),
    startedAtMs: claim.startedAtMs,
    wasHandedOver: claim.wasHandedOver,
    laterReplyHandle: first.laterReplyHandle,
    replyTarget: undefined,
    signal: AbortSignal.any([]),
    stopped: () => undefined,
    fenced: () => undefined,
    storeAnswer: (text) => store.storeAnswer(claim, text),
    sealAnswer: (text) => store.sealAnswer(claim, text),
    isClaimHeld: () => true,
  });
  const poll = (index: number) =>
    readLiveReply(
      { redis: server.redis, keyRing, platform, nowMs },
      {
        partition: conversation.partition,
        deliveryId: ids[index] ?? '',
        personId: personIdOf(first, first.sender.userId),
      },
    );
  const finish = async () => {
    await store.commit(claim, { outcome: 'final', records: await live.finish(ANSWER) });
  };
  return { live, poll, finish, keyOf: (index: number) => messageKey(conversation.partition, ids[index] ?? '') };
}

/** Polls the oldest message until it shows a text. */
async function seen({ poll }: Pick<Awaited<ReturnType<typeof openMerged>>, 'poll'>, text: string): Promise<void> {
  while ((await poll(0)).content !== text) await new Promise((resolve) => setTimeout(resolve, 10));
}

test('a merged message points below once somebody polls the newest, and waits for that as long as it may come', async () => {
  const { live, poll, finish } = await openMerged([2 * SECOND_MS, SECOND_MS]);
  live.show({ text: 'The' });
  await live.close();
  expect(await poll(0)).toMatchObject({ content: '', finished: false });
  await finish();
  expect(await poll(0)).toMatchObject({ content: '', finished: false });
  expect(await poll(1)).toMatchObject({ content: ANSWER, finished: true });
  expect(await poll(0)).toMatchObject({ content: REPLY_TEXTS.answeredBelow.en, finished: true });
});

test('F1: a newer message that the platform never heard of does not take the answer with it', async () => {
  const { live, poll, finish } = await openMerged([2 * SECOND_MS, SECOND_MS]);
  clockMs += 20 * SECOND_MS;
  live.show({ text: 'The' });
  await live.close();
  expect(await poll(0)).toMatchObject({ content: 'The', finished: false });
  await finish();
  expect(await poll(0)).toMatchObject({ content: ANSWER, finished: true });
  expect(await poll(1)).toMatchObject({ content: REPLY_TEXTS.answeredAbove.en, finished: true });
});

test('an answer shown in an older message goes the other way before that message cannot grow any more', async () => {
  const { live, poll, finish } = await openMerged([4 * MINUTE_MS, 0]);
  clockMs += 20 * SECOND_MS;
  live.show({ text: 'Slow' });
  await seen({ poll }, 'Slow');
  clockMs = BEGIN_MS + 85 * SECOND_MS;
  expect(await poll(0)).toMatchObject({ finished: false });
  live.show({ text: 'Slowly' });
  await seen({ poll }, 'Slowly');
  clockMs = BEGIN_MS + 90 * SECOND_MS;
  expect(await poll(0)).toMatchObject({ content: REPLY_TEXTS.followsBelow.en, finished: true });
  await finish();
  expect(postedLater).toEqual([ANSWER]);
});

test('a Redis that takes no writes does not keep anybody from reading', async () => {
  const { poll, finish } = await openMerged([SECOND_MS, 0]);
  await finish();
  await server.redis.config('SET', 'maxmemory', '1');
  try {
    expect(await poll(1)).toMatchObject({ content: ANSWER, finished: true });
  } finally {
    await server.redis.config('SET', 'maxmemory', '0');
  }
});

test('whichever of the merged messages are polled, and from whenever on: one of them shows the answer, and each ends once', async () => {
  const seconds = (most: number) => fc.integer({ min: 0, max: most });
  const asked = fc.record({ beforeSec: seconds(40), pollsFromSec: fc.option(seconds(60), { nil: undefined }) });
  await fc.assert(
    fc.asyncProperty(fc.array(asked, { minLength: 2, maxLength: 4 }), seconds(50), async (messages, answeredAtSec) => {
      const sorted = messages.toSorted((one, other) => other.beforeSec - one.beforeSec);
      const { live, poll, finish } = await openMerged(sorted.map(({ beforeSec }) => beforeSec * SECOND_MS));
      const ends = sorted.map((): string | undefined => undefined);
      for (let second = 0; second <= 90; second += 1) {
        clockMs = BEGIN_MS + second * SECOND_MS;
        if (second === Math.floor(answeredAtSec / 2)) live.show({ text: 'The' });
        if (second === answeredAtSec) await finish();
        for (const [index, { pollsFromSec = Infinity }] of sorted.entries()) {
          if (second < pollsFromSec || ends[index] !== undefined) continue;
          const { content, finished } = await poll(index);
          if (finished) ends[index] = content;
        }
      }
      const polled = sorted.map(({ pollsFromSec }) => pollsFromSec !== undefined);
      expect(ends.map((end) => end !== undefined)).toEqual(polled);
      expect(ends.filter((end) => end === ANSWER)).toHaveLength(polled.includes(true) ? 1 : 0);
    }),
    { numRuns: 40 },
  );
});
