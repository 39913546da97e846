import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { MINUTE_MS } from '../../../src/shared/clock.ts';
import { conversationKeys, messageKey } from '../../../src/bot/domain/partition-keys.ts';
import { connectRedis, type RedisClient } from '../../../src/shared/redis/redis.ts';
import { conversationOf, deliveryIdOf } from '../../../src/bot/domain/conversation.ts';
import { Inbox } from '../../../src/bot/queue/accept.ts';
import type { TurnCommit } from '../../../src/bot/domain/turn.ts';
import { TurnStore } from '../../../src/bot/queue/turn-store.ts';
import { createPostLedger } from '../../../src/bot/reply/post-ledger.ts';
import { storeNotice } from '../../../src/bot/reply/notices.ts';
import { doubleScripts } from '../../support/double-scripts.ts';
import { testKeyRing, textMessage } from '../../support/messages.ts';
import { recordingLog, startTestRedis, type TestRedis } from '../../support/redis.ts';
import { DyingWorkersStore } from '../../support/dying-workers.ts';

// A client that loses its connection resends the commands without a reply, although Redis may have run them already.

const { log } = recordingLog();
const keyRing = testKeyRing();
const alice = conversationOf(textMessage('x'), 'member');
const keys = conversationKeys(alice);
let server: TestRedis;
let doubling: RedisClient;

beforeAll(async () => {
  server = await startTestRedis();
  doubling = doubleScripts(connectRedis({ urls: [server.url] }, 'wait', log, 'doubling'));
});
afterAll(async () => {
  doubling.disconnect();
  await server.stop();
});
beforeEach(async () => {
  await server.redis.flushall();
});

const nowMs = () => Date.now();
const storeOn = (redis: RedisClient) => new DyingWorkersStore({ redis, keyRing, nowMs, historyLifeMs: MINUTE_MS });
const inboxOn = (redis: RedisClient) => new Inbox({ redis, keyRing });
const FINAL: TurnCommit = { outcome: 'final', records: [] };

test('an accept that is sent twice stores one message and counts one [repeatable-scripts]', async () => {
  const message = textMessage('q');
  await inboxOn(doubling).accept(alice, message);
  expect(await server.redis.llen(keys.inbox)).toBe(1);
  const rates = await server.redis.keys('{p*}:rate:*');
  expect(await server.redis.get(rates[0] ?? '')).toBe('1');
});

test('a claim that is sent twice is one claim and counts no crash [repeatable-scripts]', async () => {
  const store = storeOn(doubling);
  await inboxOn(server.redis).accept(alice, textMessage('q'));
  const first = await store.begin(alice);
  expect(first).toMatchObject({ crashes: 0 });
  expect(first?.messages).toHaveLength(1);
  expect(await store.begin(alice)).toMatchObject({ crashes: 1 });
  // Two separate claims count as two.
  expect(await storeOn(server.redis).begin(alice)).toMatchObject({ crashes: 2 });
});

test('a claim that is sent twice by a live worker belongs to that worker [repeatable-scripts]', async () => {
  const store = new TurnStore({ redis: doubling, keyRing, nowMs, historyLifeMs: MINUTE_MS });
  await inboxOn(server.redis).accept(alice, textMessage('q'));
  const claim = await store.begin(alice);
  expect(claim).toMatchObject({ crashes: 0 });
  expect(claim && (await store.commit(claim, FINAL))).toBe(0);
});

test('a commit that is sent twice removes only the messages, history and notices of its turn [repeatable-scripts]', async () => {
  const store = storeOn(doubling);
  for (const said of ['/help', '/whoami']) await inboxOn(server.redis).accept(alice, textMessage(said));
  for (const text of ['a', 'b', 'c']) await storeNotice(server.redis, keyRing, { conversation: alice, text });
  const first = await store.begin(alice);
  const noticesShown = first?.notices.slice(0, 1) ?? [];
  expect(first && (await store.commit(first, { ...FINAL, history: { append: 'h1' }, noticesShown }))).toBe(1);
  expect(await server.redis.lrange(keys.history, 0, -1)).toEqual(['h1']);
  expect(await server.redis.llen(keys.notices)).toBe(2);
  const second = await store.begin(alice);
  expect(second?.messages.map(({ message }) => message.slash?.word)).toEqual(['whoami']);
  expect(second && (await store.commit(second, { ...FINAL, history: { replaceLast: true, append: 'h2' } }))).toBe(0);
  expect(await server.redis.lrange(keys.history, 0, -1)).toEqual(['h2']);
});

test('marks, renewals, releases and posts that are sent twice have no further effect [repeatable-scripts]', async () => {
  const store = storeOn(doubling);
  const message = textMessage('q');
  await inboxOn(server.redis).accept(alice, message);
  const claim = await store.begin(alice);
  if (!claim) throw new Error('nothing waits');
  expect(await store.storeAnswer(claim, 'whole')).toBe(true);
  expect(await store.renew(claim)).toMatchObject({ stop: { seq: 0 } });
  const place = {
    doubtedAgeMs: 0,
    redis: doubling,
    conversation: alice,
    epoch: claim.epoch,
    deliveryId: deliveryIdOf(message),
    place: 'here',
  };
  const ledger = createPostLedger(place);
  // The second sending finds the mark of the first one and recognises it as this worker's own.
  expect(await ledger.begin(0)).toMatchObject({ kind: 'posting', isOwn: true });
  expect(await ledger.record(0, 'handle')).toEqual({ kind: 'posted', handle: 'handle', left: [] });
  expect(await ledger.begin(0)).toEqual({ kind: 'posted', handle: 'handle', left: [] });
  await store.commit(claim, { outcome: 'held', records: [] });
  await store.release(alice);
  expect(await server.redis.llen(keys.inbox)).toBe(1);
  expect(await server.redis.hget(messageKey(alice.partition, deliveryIdOf(message)), 'state')).toBe('accepted');
});

test('a notice whose transaction is sent twice is stored once [repeatable-scripts]', async () => {
  const sealed = keyRing.seal('notice', alice.id, 'somebody signed in');
  // The same bytes, as the connection resends them.
  const sameSeal = Object.assign(Object.create(keyRing) as typeof keyRing, { seal: () => sealed });
  for (let sending = 0; sending < 2; sending += 1)
    await storeNotice(server.redis, sameSeal, { conversation: alice, text: 'somebody signed in' });
  expect(await server.redis.llen(keys.notices)).toBe(1);
});
