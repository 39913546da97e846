import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { MINUTE_MS } from '../../src/base/clock.ts';
import { messageKey } from '../../src/base/partition-keys.ts';
import { conversationOf, personIdOf } from '../../src/platforms/conversation-key.ts';
import type { InboundMessage, Platform, PostResult } from '../../src/platforms/platform.ts';
import { createWecom } from '../../src/platforms/wecom/index.ts';
import { Inbox } from '../../src/queue/accept.ts';
import { TurnStore, type TurnClaim } from '../../src/queue/turn-store.ts';
import { createLiveReply, type LiveReply } from '../../src/reply/live-reply.ts';
import { readLiveReply } from '../../src/reply/read-live-reply.ts';
import { testKeyRing, textMessage } from '../support/messages.ts';
import { recordingLog, startTestRedis, type TestRedis } from '../support/redis.ts';

const keyRing = testKeyRing();
const { log } = recordingLog();
let server: TestRedis;
let store: TurnStore;
let clockMs = 1_800_000_000_000;
let postedLater: string[] = [];
let laterResults: PostResult[] = [];
const nowMs = () => clockMs;

const platform: Platform = {
  ...createWecom({
    botToken: 'token',
    botAesKey: 'abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG',
    botName: 'Parley',
    webhookWindowSec: 300,
    nowMs,
    log,
    tokenStore: { read: async () => undefined, write: async () => undefined },
  }),
  replyLater: async (_handle, text) => {
    postedLater.push(text);
    return laterResults.shift() ?? 'sent';
  },
};

beforeAll(async () => {
  server = await startTestRedis();
  store = new TurnStore({ redis: server.redis, keyRing, nowMs, historyLifeMs: MINUTE_MS });
});
afterAll(() => server.stop());
beforeEach(async () => {
  await server.redis.flushall();
  postedLater = [];
  laterResults = [];
});

test('a long answer loses nothing to the status and the thought that stand in its message', async () => {
  const { live, claim, poll } = await openReply();
  const text = Array.from({ length: 4_700 }, (_, index) => `n${index}`).join(' ');
  const records = await live.finish(text, 'Answered by another model.', 'thought '.repeat(900));
  await store.commit(claim, { outcome: 'final', records });
  const { content } = await poll();
  const [, shown = ''] = content.split('</think>\n');
  expect(content).toContain('Answered by another model.');
  expect((shown + postedLater.join('')).split(/\s+/)).toEqual(text.split(' '));
  const raw = JSON.stringify(await server.redis.hgetall(messageKey(claim.conversation.partition, claim.turnId)));
  expect(raw).not.toContain('thought');
});

interface Scene {
  live: LiveReply;
  claim: TurnClaim;
  message: InboundMessage;
  fenced: () => number;
  poll(userId?: string): ReturnType<typeof readLiveReply>;
  finish(text: string, status?: string): Promise<void>;
}

async function openReply(overrides: Partial<InboundMessage> = {}): Promise<Scene> {
  const message = textMessage('question', { laterReplyHandle: 'https://example.test/later', ...overrides });
  const conversation = conversationOf(message, 'member');
  const { deliveryId } = await new Inbox({ redis: server.redis, keyRing, nowMs }).accept(conversation, message);
  const claim = await store.begin(conversation);
  if (!claim) throw new Error('nothing waits');
  let fencedCount = 0;
  const live = createLiveReply({
    redis: server.redis,
    keyRing,
    platform,
    nowMs,
    report: { firstTextShown: () => undefined, replyHandedOver: () => undefined },
    conversation,
    epoch: claim.epoch,
    deliveryId,
    mergedIds: [],
    startedAtMs: claim.startedAtMs,
    wasHandedOver: claim.wasHandedOver,
    laterReplyHandle: message.laterReplyHandle,
    replyTarget: undefined,
    signal: AbortSignal.any([]),
    stopped: () => undefined,
    log,
    language: 'en',
    fenced: () => void (fencedCount += 1),
    storeAnswer: (text) => store.storeAnswer(claim, text),
    sealAnswer: (text) => store.sealAnswer(claim, text),
    isClaimHeld: () => true,
  });
  const poll: Scene['poll'] = (userId = message.sender.userId) =>
    readLiveReply(
      { redis: server.redis, keyRing, platform, nowMs },
      { partition: conversation.partition, deliveryId, personId: personIdOf(message, userId) },
    );
  const finish: Scene['finish'] = async (text, status) => {
    await store.commit(claim, { outcome: 'final', records: await live.finish(text, status) });
  };
  return { live, claim, message, fenced: () => fencedCount, poll, finish };
}

test('a poll right after the accept finds an open, empty reply', async () => {
  const { poll } = await openReply();
  expect(await poll()).toMatchObject({ content: '', finished: false });
});

test('shown text can be polled at once, and the final text after the commit', async () => {
  const { live, poll, finish } = await openReply();
  live.show({ text: 'He' });
  live.show({ text: 'Hello' });
  await live.close();
  expect((await poll()).content).toMatch(/^He/);
  await finish('Hello, Alice.');
  expect(await poll()).toMatchObject({ content: 'Hello, Alice.', finished: true });
});

test("another person's poll, and one for an unknown reply, end with a sentence and no content", async () => {
  const { live, poll, message } = await openReply();
  live.show({ text: 'for alice alone' });
  await live.close();
  const other = await poll('mallory');
  expect(other.finished).toBe(true);
  expect(other.content).not.toContain('alice');
  await server.redis.del(messageKey(conversationOf(message, 'member').partition, other.replyId));
  expect((await poll()).content).toBe(other.content);
});

test('security.md 4.3: a worker of an older epoch shows nothing and learns that it is fenced', async () => {
  const { live, poll, fenced, message } = await openReply();
  await store.begin(conversationOf(message, 'member'));
  live.show({ text: 'from a frozen worker' });
  await live.close();
  expect(fenced()).toBe(1);
  expect((await poll()).content).toBe('');
});

test('what is stored of a reply is sealed', async () => {
  const { live, message, poll } = await openReply();
  live.show({ text: 'canary-in-the-reply' });
  await live.close();
  const { replyId } = await poll();
  const record = await server.redis.hgetall(messageKey(conversationOf(message, 'member').partition, replyId));
  expect(JSON.stringify(record)).not.toContain('canary');
  expect(record['content']).toMatch(/^s1\./);
});

test("before WeCom's six minutes are over a poll ends the live reply, and the answer goes by the response_url", async () => {
  const { live, poll, finish } = await openReply();
  live.show({ text: 'partial' });
  await live.close();
  clockMs += 5.5 * MINUTE_MS;
  const ended = await poll();
  expect(ended.finished).toBe(true);
  expect(ended.content).not.toContain('partial');
  await finish('the whole answer');
  expect(postedLater).toEqual(['the whole answer']);
  expect((await poll()).content).toBe(ended.content);
});

test('security.md 4.5: after an uncertain post a refusal means that the first one had arrived', async () => {
  const { finish, message } = await openReply();
  clockMs += 5.5 * MINUTE_MS;
  laterResults = ['uncertain', 'refused'];
  await finish('once only');
  expect(postedLater).toHaveLength(2);
  const ref = conversationOf(message, 'member');
  const keys = await server.redis.keys('{p*}:message:*');
  expect(await server.redis.hget(keys[0] ?? '', 'delivery')).toBe('sent');
  expect(ref.partition).toBeGreaterThanOrEqual(0);
});

test('an invitation that is left open stays after the hand-over, since the answer follows below it', async () => {
  const { live, claim, poll } = await openReply();
  await store.commit(claim, { outcome: 'held', records: await live.leaveOpen('please sign in: LINK') });
  expect(await poll()).toMatchObject({ content: 'please sign in: LINK', finished: false });
  clockMs += 5.5 * MINUTE_MS;
  expect(await poll()).toMatchObject({ content: 'please sign in: LINK', finished: true });
});

test('a text too long for one message fills it and goes on by the response_url', async () => {
  const { finish, poll } = await openReply();
  const text = Array.from({ length: 900 }, (_, line) => `line ${line} of a long answer`).join('\n');
  await finish(text);
  const first = (await poll()).content;
  expect(Buffer.byteLength(first)).toBeLessThanOrEqual(20_480);
  expect(`${first}\n${postedLater[0] ?? ''}`.replace(/\s+/g, ' ')).toBe(text.replace(/\s+/g, ' '));
});

test('a notice is shown apart from the text, in the thinking block', async () => {
  const { finish, poll } = await openReply();
  await finish('The answer.', 'Signed in as Alice.');
  expect((await poll()).content).toBe('<think>Signed in as Alice.</think>\nThe answer.');
});
