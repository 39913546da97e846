import { Redis } from 'ioredis';
import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { DAY_MS, MINUTE_MS } from '../../../src/shared/clock.ts';
import { conversationKeys, messageKey } from '../../../src/bot/domain/partition-keys.ts';
import { conversationOf, deliveryIdOf } from '../../../src/bot/domain/conversation.ts';
import { Inbox } from '../../../src/bot/queue/accept.ts';
import { stopAppliesTo } from '../../../src/bot/queue/stop-mark.ts';
import type { TurnStore } from '../../../src/bot/queue/turn-store.ts';
import { STOP_CHANNEL } from '../../../src/bot/domain/turn-news.ts';
import { testKeyRing, textMessage } from '../../support/messages.ts';
import { useTestRedis } from '../../support/use-test-redis.ts';
import { DyingWorkersStore } from '../../support/dying-workers.ts';

const keyRing = testKeyRing();
const alice = conversationOf(textMessage('x'), 'member');
const server = useTestRedis();
let inbox: Inbox;
let store: TurnStore;
const nowMs = () => 1_800_000_000_000;

beforeAll(async () => {
  const options = { redis: server.redis, keyRing, nowMs };
  inbox = new Inbox({ ...options, limits: { personPerMinute: 1_000 } });
  store = new DyingWorkersStore({ ...options, historyLifeMs: MINUTE_MS });
});
beforeEach(async () => {
  await server.redis.flushall();
});

test('a delivery is remembered for 24 h under the first 40 hex digits of its hash, before and after its answer [accept-once]', async () => {
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

test('a conversation with 100 waiting messages refuses more, except a stop word [back-pressure]', async () => {
  for (let count = 0; count < 100; count += 1)
    expect((await inbox.accept(alice, textMessage('again'))).result).toBe('new');
  const late = textMessage('one too many');
  expect((await inbox.accept(alice, late)).result).toBe('full');
  expect(await server.redis.llen(conversationKeys(alice).inbox)).toBe(100);
  expect((await inbox.accept(alice, textMessage('/stop'))).result).toBe('new');
  const bob = textMessage('hello', { sender: { userId: 'bob' }, chat: { kind: 'private', id: 'bob' } });
  expect((await inbox.accept(conversationOf(bob, 'member'), bob)).result).toBe('new');
  // A refused delivery stays refused: a repeat gets the same result although there is room again.
  const claim = await store.begin(alice);
  if (claim) await store.commit(claim, { outcome: 'final', records: [] });
  expect((await inbox.accept(alice, late)).result).toBe('full');
  expect((await inbox.accept(alice, textMessage('and now'))).result).toBe('new');
});

test('accepts 20 slash words beyond a full inbox, and refuses further ones', async () => {
  for (let count = 0; count < 100; count += 1) await inbox.accept(alice, textMessage('again'));
  const words = ['/help', '/new', '停止', '/stop', '/whoami'];
  const results: string[] = [];
  for (let count = 0; count < 25; count += 1)
    results.push((await inbox.accept(alice, textMessage(words[count % words.length] ?? ''))).result);
  expect(results).toEqual([...Array<string>(20).fill('new'), ...Array<string>(5).fill('full')]);
  expect(await server.redis.llen(conversationKeys(alice).inbox)).toBe(120);
});

describe('a stop word beyond every limit', () => {
  const few = () => new Inbox({ redis: server.redis, keyRing, limits: { personPerMinute: 2 } });
  const flood = async (limited: Inbox) => {
    await limited.accept(alice, textMessage('a question'));
    for (let count = 0; count < 6; count += 1) await limited.accept(alice, textMessage('more'));
  };

  test('stops the running turn at once without being queued', async () => {
    const limited = few();
    const heard: string[] = [];
    const listener = new Redis(server.url, { maxRetriesPerRequest: null });
    listener.on('message', (_channel: string, text: string) => heard.push(text));
    await listener.subscribe(STOP_CHANNEL);
    await flood(limited);
    const claim = await store.begin(alice);
    const waiting = await server.redis.llen(conversationKeys(alice).inbox);
    expect((await limited.accept(alice, textMessage('/stop'))).result).toBe('limited');
    const seen = claim && (await store.renew(claim));
    expect(claim && seen && stopAppliesTo(seen.stop, claim.messages)).toBe(true);
    expect(await server.redis.llen(conversationKeys(alice).inbox)).toBe(waiting);
    expect(heard).toHaveLength(1);
    listener.disconnect();
  });

  test('does not stop a later question of the same person', async () => {
    const limited = few();
    await flood(limited);
    await limited.accept(alice, textMessage('/stop'));
    await server.redis.del('none', ...(await server.redis.keys('{person:*}:rate:minute')));
    const later = textMessage('a later question');
    await limited.accept(alice, later);
    const stopped = await store.begin(alice);
    expect(stopped && stopAppliesTo(stopped.stop, stopped.messages)).toBe(true);
    if (stopped) await store.commit(stopped, { outcome: 'final', records: [] });
    const claim = await store.begin(alice);
    expect(claim?.messages.map(({ deliveryId }) => deliveryId)).toEqual([deliveryIdOf(later)]);
    expect(claim && stopAppliesTo(claim.stop, claim.messages)).toBe(false);
  });

  test('stores nothing in a conversation without a question', async () => {
    const limited = few();
    await flood(limited);
    const group = textMessage('/stop', { chat: { kind: 'group', id: 'g' } });
    const elsewhere = conversationOf(group, 'member');
    expect((await limited.accept(elsewhere, group)).result).toBe('limited');
    expect(await server.redis.exists(conversationKeys(elsewhere).state, conversationKeys(elsewhere).inbox)).toBe(0);
  });
});

test('refuses messages above the configured limits of a person and of a chat [rate-limits]', async () => {
  const chat = { kind: 'group', id: 'g' } as const;
  const limited = new Inbox({ redis: server.redis, keyRing, limits: { personPerMinute: 2, chatPerMinute: 4 } });
  const say = async (userId: string) => {
    const message = textMessage('hello', { chat, sender: { userId } });
    return (await limited.accept(conversationOf(message, 'member'), message)).result;
  };
  const results: string[] = [];
  for (const userId of ['alice', 'alice', 'alice', 'bob', 'bob']) results.push(await say(userId));
  expect(results).toEqual(['new', 'new', 'limited', 'new', 'limited']);
});

test('refuses the 61st message of a group within a minute, for any senders [rate-limits]', async () => {
  const chat = { kind: 'group', id: 'g' } as const;
  const results: string[] = [];
  for (let count = 0; count < 61; count += 1) {
    const message = textMessage('hi', { chat, sender: { userId: `u${count % 10}` } });
    results.push((await inbox.accept(conversationOf(message, 'member'), message)).result);
  }
  expect(results.filter((result) => result === 'new')).toHaveLength(60);
  expect(results.at(-1)).toBe('limited');
});

test('the crash count of a turn is dropped together with the turn [poison-turns]', async () => {
  const { inbox: entries, state } = conversationKeys(alice);
  await inbox.accept(alice, textMessage('/help'));
  await inbox.accept(alice, textMessage('/whoami'));
  for (let crash = 0; crash < 3; crash += 1) {
    await store.begin(alice);
  }
  // The message of the crashed turn is removed without a commit: the next turn starts with no crashes.
  await server.redis.lpop(entries);
  expect(await store.begin(alice)).toMatchObject({ crashes: 0 });
  expect(await server.redis.hget(state, 'crashes')).toBe('0');
});
