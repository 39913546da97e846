import { beforeAll, beforeEach, expect, test } from '@jest/globals';
import { HOUR_MS, MINUTE_MS } from '../../../src/shared/clock.ts';
import { conversationKeys } from '../../../src/bot/domain/partition-keys.ts';
import { sealSummary } from '../../../src/bot/turn/conversation/summary.ts';
import { conversationOf } from '../../../src/bot/domain/conversation.ts';
import { Inbox } from '../../../src/bot/queue/accept.ts';
import type { TurnStore } from '../../../src/bot/queue/turn-store.ts';
import { type TurnCommit, type TurnClaim } from '../../../src/bot/domain/turn.ts';
import { testKeyRing, textMessage } from '../../support/messages.ts';
import { useTestRedis } from '../../support/use-test-redis.ts';
import { DyingWorkersStore } from '../../support/dying-workers.ts';

// The effects of the queue's scripts on the summary of a conversation.

const keyRing = testKeyRing();
const alice = conversationOf(textMessage('x'), 'member');
const { summary, history } = conversationKeys(alice);
const SEALED = sealSummary(keyRing, alice.id, { version: 1, text: 'notes', chatKind: 'private', coveredToMs: 1 });

const server = useTestRedis();
let inbox: Inbox;
let store: TurnStore;
beforeAll(async () => {
  const options = { redis: server.redis, keyRing, nowMs: Date.now, historyLifeMs: HOUR_MS };
  inbox = new Inbox({ ...options, limits: { personPerMinute: 1_000 } });
  store = new DyingWorkersStore(options);
});
beforeEach(() => server.redis.flushall());

async function begin(): Promise<TurnClaim> {
  await inbox.accept(alice, textMessage('and?'));
  const claim = await store.begin(alice);
  if (!claim) throw new Error('nothing waits');
  return claim;
}
const commit = async (changes: Partial<TurnCommit>) =>
  store.commit(await begin(), { outcome: 'final', records: [], ...changes });

test('the summary is returned with the claim, together with the number of stored turns', async () => {
  await server.redis.set(summary, SEALED);
  await server.redis.rpush(history, ...Array.from({ length: 70 }, (_, index) => `turn ${index}`));
  expect(await begin()).toMatchObject({ summary: SEALED, historyLength: 70 });
});

test('a conversation without a summary costs no read and no write of its own', async () => {
  await commit({ history: { append: 'turn 1' } });
  await server.redis.config('RESETSTAT');
  await commit({ history: { append: 'turn 2' } });
  const stats = await server.redis.info('commandstats');
  // One command asks for the summary, the notices and what is held.
  expect(stats).toMatch(/cmdstat_exists:calls=1,/);
  expect(stats).not.toContain('cmdstat_get:');
  // One set for the rate limit; four pexpire for state, message, history and index of chats.
  expect(stats).toMatch(/cmdstat_set:calls=1,/);
  expect(stats).toMatch(/cmdstat_pexpire:calls=4,/);
  expect(await server.redis.exists(summary)).toBe(0);
  expect(await begin()).toMatchObject({ summary: '', historyLength: 2 });
});

test('the summary expires together with the turns', async () => {
  await server.redis.set(summary, SEALED, 'PX', MINUTE_MS);
  await commit({});
  expect(await server.redis.pttl(summary)).toBeLessThanOrEqual(MINUTE_MS);
  await commit({ history: { append: 'turn' } });
  expect(await server.redis.pttl(summary)).toBeGreaterThan(HOUR_MS - MINUTE_MS);
});

test.each<[string, Partial<TurnCommit>]>([
  ['/new and /unlink', { history: { forget: true } }],
  ['a new conversation after the idle time', { history: { append: 'turn', startsConversation: true } }],
  ['/forget', { erase: { remove: [], drop: [], clear: [summary] } }],
])('%s replaces the summary by a mark that blocks one being written [group-is-not-private]', async (_what, changes) => {
  for (const kept of [SEALED, undefined]) {
    await (kept === undefined ? server.redis.del(summary) : server.redis.set(summary, kept));
    await commit(changes);
    expect(await server.redis.get(summary)).toMatch(/^-/);
    expect(await server.redis.pttl(summary)).toBeLessThanOrEqual(HOUR_MS);
  }
});

test('a release after sign-in deletes the summary and blocks one that is being written [link-is-told]', async () => {
  await server.redis.set(summary, SEALED);
  await store.commit(await begin(), { outcome: 'held', records: [] });
  expect(await server.redis.get(summary)).toBe(SEALED);
  await store.release(alice);
  expect(await server.redis.get(summary)).toMatch(/^-/);
});
