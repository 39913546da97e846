import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { HOUR_MS } from '../../src/base/clock.ts';
import { conversationKeys } from '../../src/base/partition-keys.ts';
import { sealTurn } from '../../src/conversation/history.ts';
import { openSummary, type ConversationSummary } from '../../src/conversation/summary.ts';
import { SummaryStore } from '../../src/conversation/summary-store.ts';
import { conversationOf } from '../../src/platforms/conversation-key.ts';
import { testKeyRing, textMessage } from '../support/messages.ts';
import { startTestRedis, type TestRedis } from '../support/redis.ts';
import { turnOf } from './turns.ts';

const keyRing = testKeyRing();
const place = conversationOf(textMessage('x'), 'member');
const keys = conversationKeys(place);
const SUMMARY: ConversationSummary = { version: 1, text: 'the notes', chatKind: 'private', coveredToMs: 2 };

let server: TestRedis;
let store: SummaryStore;
beforeAll(async () => {
  server = await startTestRedis();
  store = new SummaryStore(server.redis, keyRing, HOUR_MS);
});
afterAll(() => server.stop());
beforeEach(async () => {
  await server.redis.flushall();
  for (const turnId of ['t1', 't2', 't3'])
    await server.redis.rpush(keys.history, sealTurn(keyRing, place.id, turnOf({ turnId })));
});

const kept = async () => openSummary(keyRing, place.id, (await server.redis.get(keys.summary)) ?? '');
const sourceAt = async (index: number) => {
  const { startedFrom, kept: turns } = await store.read(place);
  return { startedFrom, newestCovered: turns[index]?.sealed ?? '' };
};

test('a summary is kept sealed, for its conversation only, and for as long as the history', async () => {
  expect(await store.write(place, SUMMARY, await sourceAt(1))).toBe(true);
  expect(await kept()).toEqual(SUMMARY);
  const sealed = (await server.redis.get(keys.summary)) ?? '';
  expect(sealed).not.toContain('notes');
  expect(openSummary(keyRing, 'another', sealed)).toBeUndefined();
  expect(await server.redis.pttl(keys.summary)).toBeGreaterThan(HOUR_MS - 60_000);
});

test('a summary made from a turn that is gone by now is refused', async () => {
  const source = await sourceAt(1);
  await server.redis.lrem(keys.history, 0, source.newestCovered);
  expect(await store.write(place, SUMMARY, source)).toBe(false);
  expect(await kept()).toBeUndefined();
});

test('a summary is refused when another was written since it was begun', async () => {
  const source = await sourceAt(1);
  const other = { ...SUMMARY, text: 'of another worker' };
  expect(await store.write(place, other, source)).toBe(true);
  expect(await store.write(place, SUMMARY, source)).toBe(false);
  expect(await kept()).toEqual(other);
  expect(await store.write(place, SUMMARY, await sourceAt(2))).toBe(true);
});

test('a summary is refused when the older one was cleared since it was begun, though its turns still stand', async () => {
  const source = await sourceAt(1);
  await server.redis.set(keys.summary, '-turn');
  expect(await store.write(place, SUMMARY, source)).toBe(false);
  expect(await kept()).toBeUndefined();
});
