import { beforeAll, beforeEach, expect, test } from '@jest/globals';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../../src/shared/clock.ts';
import { conversationKeys } from '../../../../src/bot/domain/partition-keys.ts';
import { connectRedis } from '../../../../src/shared/redis/redis.ts';
import { sealTurn } from '../../../../src/bot/turn/conversation/history.ts';
import { openSummary, type ConversationSummary } from '../../../../src/bot/turn/conversation/summary.ts';
import { SummaryStore } from '../../../../src/bot/turn/conversation/summary-store.ts';
import { usageChange } from '../../../../src/bot/turn/conversation/usage-store.ts';
import { conversationOf } from '../../../../src/bot/domain/conversation.ts';
import { asConversationId, asDeliveryId, asPersonId } from '../../../../src/bot/domain/ids.ts';
import { doubleScripts } from '../../../support/double-scripts.ts';
import { endSummaryWaits } from '../../../support/end-summary-waits.ts';
import { testKeyRing, textMessage } from '../../../support/messages.ts';
import { recordingLog } from '../../../support/redis.ts';
import { useTestRedis } from '../../../support/use-test-redis.ts';
import { turnOf } from './turns.ts';

const keyRing = testKeyRing();
const place = conversationOf(textMessage('x'), 'member');
const keys = conversationKeys(place);
const SUMMARY: ConversationSummary = { version: 1, text: 'the notes', chatKind: 'private', coveredToMs: 2 };

const server = useTestRedis();
let store: SummaryStore;
beforeAll(async () => {
  store = new SummaryStore(server.redis, keyRing, HOUR_MS);
});
beforeEach(async () => {
  await server.redis.flushall();
  for (const turnId of ['t1', 't2', 't3'])
    await server.redis.rpush(keys.history, sealTurn(keyRing, place.id, turnOf({ turnId: asDeliveryId(turnId) })));
});

const kept = async () => openSummary(keyRing, place.id, (await server.redis.get(keys.summary)) ?? '');
const sourceAt = async (index: number) => {
  const { startedFrom, kept: turns } = await store.read(place);
  return { startedFrom, newestCovered: turns[index]?.sealed ?? '' };
};

test('a summary is stored encrypted, for its conversation only, and as long as the history', async () => {
  expect(await store.write(place, SUMMARY, await sourceAt(1))).toBe(true);
  expect(await kept()).toEqual(SUMMARY);
  const sealed = (await server.redis.get(keys.summary)) ?? '';
  expect(sealed).not.toContain('notes');
  expect(openSummary(keyRing, asConversationId('another'), sealed)).toBeUndefined();
  expect(await server.redis.pttl(keys.summary)).toBeGreaterThan(HOUR_MS - 60_000);
});

test('a summary of a turn that no longer exists is refused', async () => {
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

test('a summary is refused when the older one was cleared since it was begun, although its turns still exist', async () => {
  const source = await sourceAt(1);
  await server.redis.set(keys.summary, '-turn');
  expect(await store.write(place, SUMMARY, source)).toBe(false);
  expect(await kept()).toBeUndefined();
});

/** Begins an attempt from the stored summary. */
const begin = async (on = store) => on.begin(place, (await server.redis.get(keys.summary)) ?? '');
/** Minutes until the next attempt is allowed, by Redis' clock. */
async function waitOf(noted: string | undefined): Promise<number> {
  const untilMs = Number(/\.\d+:(\d+):/.exec(noted ?? '')?.[1]);
  const [sec = 0] = (await server.redis.time()).map(Number);
  return Math.round((untilMs - sec * 1_000) / MINUTE_MS);
}

test.each(['nothing', 'a cleared one', 'an older one'])(
  'each failed attempt doubles the wait for the next one, up to six hours, starting from %s',
  async (what) => {
    if (what === 'a cleared one') await server.redis.set(keys.summary, '-turn', 'PX', HOUR_MS);
    if (what === 'an older one') await store.write(place, SUMMARY, await sourceAt(1));
    const waits: number[] = [];
    for (let count = 0; count < 10; count += 1) {
      waits.push(await waitOf(await begin()));
      expect(await begin()).toBeUndefined();
      await endSummaryWaits(server.redis);
    }
    expect(waits).toEqual([2, 4, 8, 16, 32, 64, 128, 256, 360, 360]);
    // The stored summary is unchanged: it decrypts and keeps its lifetime. Where there was none, the attempts create none.
    expect(await kept()).toEqual(what === 'an older one' ? SUMMARY : undefined);
    const lifeMs = await server.redis.pttl(keys.summary);
    if (what === 'an older one') expect(lifeMs).toBeLessThanOrEqual(HOUR_MS);
    else expect(lifeMs).toBeGreaterThan(12 * HOUR_MS);
    if (what !== 'an older one') expect(await server.redis.get(keys.summary)).toMatch(/^-/);
  },
);

test('a written summary replaces all earlier attempts, so that the next one can begin at once', async () => {
  await begin();
  await endSummaryWaits(server.redis);
  await begin();
  expect(await store.write(place, SUMMARY, await sourceAt(1))).toBe(true);
  expect(await waitOf(await begin())).toBe(2);
});

test('an attempt is refused when the stored value has changed, and its summary when the conversation was cleared', async () => {
  expect(await store.begin(place, 's1.k.older')).toBeUndefined();
  const startedFrom = (await begin()) ?? '';
  await server.redis.set(keys.summary, '-turn');
  expect(await store.write(place, SUMMARY, { ...(await sourceAt(1)), startedFrom })).toBe(false);
  expect(await store.begin(place, startedFrom)).toBeUndefined();
  expect(await server.redis.get(keys.summary)).toBe('-turn');
});

const usage = usageChange(
  { partition: place.partition, personId: asPersonId('person'), nowMs: Date.now(), timeZone: 'UTC' },
  { questions: 0, tokens: 777 },
);
const tokensCounted = async () =>
  Object.entries(await server.redis.hgetall(usage.key)).map(([name, count]) => [name.split(':')[1], count]);

test('the usage of a summary is counted when it is written, and not when it is refused', async () => {
  const source = await sourceAt(1);
  expect(await store.write(place, SUMMARY, source, usage)).toBe(true);
  expect(await store.write(place, SUMMARY, source, usage)).toBe(false);
  expect(await tokensCounted()).toEqual([['tokens', '777']]);
  expect(await server.redis.pttl(usage.key)).toBeGreaterThan(39 * DAY_MS);
});

test('a summary whose write is sent twice is counted once [repeatable-scripts]', async () => {
  const doubling = doubleScripts(connectRedis({ urls: [server.url] }, 'wait', recordingLog().log, 'doubling'));
  expect(await new SummaryStore(doubling, keyRing, HOUR_MS).write(place, SUMMARY, await sourceAt(1), usage)).toBe(true);
  doubling.disconnect();
  expect(await tokensCounted()).toEqual([['tokens', '777']]);
});

test('an attempt that is sent twice is one attempt and continues [repeatable-scripts]', async () => {
  const doubling = doubleScripts(connectRedis({ urls: [server.url] }, 'wait', recordingLog().log, 'doubling'));
  const noted = await begin(new SummaryStore(doubling, keyRing, HOUR_MS));
  doubling.disconnect();
  expect(noted).toMatch(/^-\.1:/);
  expect(await server.redis.get(keys.summary)).toBe(noted);
});
