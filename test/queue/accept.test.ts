import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { DAY_MS, MINUTE_MS } from '../../src/base/clock.ts';
import { conversationKeys, messageKey } from '../../src/base/partition-keys.ts';
import { conversationOf, deliveryIdOf } from '../../src/platforms/conversation-key.ts';
import { Inbox } from '../../src/queue/accept.ts';
import type { TurnStore } from '../../src/queue/turn-store.ts';
import { testKeyRing, textMessage } from '../support/messages.ts';
import { startTestRedis, type TestRedis } from '../support/redis.ts';
import { DyingWorkersStore } from '../support/dying-workers.ts';

const keyRing = testKeyRing();
const alice = conversationOf(textMessage('x'), 'member');
let server: TestRedis;
let inbox: Inbox;
let store: TurnStore;
const nowMs = () => 1_800_000_000_000;

beforeAll(async () => {
  server = await startTestRedis();
  const options = { redis: server.redis, keyRing, nowMs };
  inbox = new Inbox({ ...options, messagesAPersonMaySendAMinute: 1_000 });
  store = new DyingWorkersStore({ ...options, historyLifeMs: MINUTE_MS });
});
afterAll(() => server.stop());
beforeEach(async () => {
  await server.redis.flushall();
});

test('security.md 3.5: a delivery is remembered for 24 h under the first 40 hex digits of its hash, answered or not', async () => {
  const message = textMessage('q');
  const { deliveryId } = await inbox.accept(alice, message);
  expect(deliveryId).toMatch(/^[0-9a-f]{40}$/);
  expect(deliveryId).toBe(deliveryIdOf(message));
  const remembered = () => server.redis.pttl(messageKey(alice.partition, deliveryId));
  expect(await remembered()).toBeGreaterThan(DAY_MS - MINUTE_MS);
  const claim = await store.begin(alice);
  if (claim) await store.commit(claim, { outcome: 'final', records: [] });
  expect(await remembered()).toBeGreaterThan(DAY_MS - MINUTE_MS);
  expect((await inbox.accept(alice, message)).result).toBe('repeat');
  for (const change of [{ platform: 'slack' }, { tenant: 'other' }, { app: 'other' }, { messageId: 'other' }] as const)
    expect(deliveryIdOf({ ...message, ...change })).not.toBe(deliveryId);
});

test('security.md 4.10: a conversation in which a hundred messages wait takes no more, and says so; a stop word gets through', async () => {
  for (let count = 0; count < 100; count += 1)
    expect((await inbox.accept(alice, textMessage('again'))).result).toBe('new');
  const late = textMessage('one too many');
  expect((await inbox.accept(alice, late)).result).toBe('limited');
  expect(await server.redis.llen(conversationKeys(alice).inbox)).toBe(100);
  expect((await inbox.accept(alice, textMessage('/stop'))).result).toBe('new');
  const bob = textMessage('hello', { sender: { userId: 'bob' }, chat: { kind: 'private', id: 'bob' } });
  expect((await inbox.accept(conversationOf(bob, 'member'), bob)).result).toBe('new');
  // Refused once is refused for good: a repeat of the delivery agrees, although there is room again.
  const claim = await store.begin(alice);
  if (claim) await store.commit(claim, { outcome: 'final', records: [] });
  expect((await inbox.accept(alice, late)).result).toBe('limited');
  expect((await inbox.accept(alice, textMessage('and now'))).result).toBe('new');
});

test('security.md 3.11: the 61st message of a group within a minute is refused, whoever sends it', async () => {
  const chat = { kind: 'group', id: 'g' } as const;
  const results: string[] = [];
  for (let count = 0; count < 61; count += 1) {
    const message = textMessage('hi', { chat, sender: { userId: `u${count % 10}` } });
    results.push((await inbox.accept(conversationOf(message, 'member'), message)).result);
  }
  expect(results.filter((result) => result === 'new')).toHaveLength(60);
  expect(results.at(-1)).toBe('limited');
});

test('security.md 4.2: the crashes of one turn are forgotten with it', async () => {
  const { inbox: entries, state } = conversationKeys(alice);
  await inbox.accept(alice, textMessage('/help'));
  await inbox.accept(alice, textMessage('/whoami'));
  for (let crash = 0; crash < 3; crash += 1) {
    const claim = await store.begin(alice);
    if (claim) await store.markSolo(claim);
  }
  // The messages of the crashed turn are gone by another way than its commit: what comes next starts unburdened.
  await server.redis.lpop(entries);
  expect(await store.begin(alice)).toMatchObject({ crashes: 0, soloCrashes: 0 });
  expect(await server.redis.hget(state, 'crashes')).toBe('0');
});
