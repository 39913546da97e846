import { expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { connectRedis } from '../../../src/shared/redis/redis.ts';
import { conversationOf } from '../../../src/bot/domain/conversation.ts';
import { TurnStore } from '../../../src/bot/queue/turn-store.ts';
import { textMessage } from '../../support/messages.ts';
import { until, useWorkerFixture } from './worker-fixture.ts';

const fixture = useWorkerFixture();

test('a running turn waits for memory when Redis is full, and runs once [redis-full] [poison-turns]', async () => {
  const { redis } = fixture.server;
  const { keyRing, log } = fixture;
  let runs = 0;
  let isStored = false;
  // A worker's own connection waits for Redis; the connection of the fixture fails fast.
  const own = connectRedis({ urls: [fixture.server.url] }, 'wait', log, 'worker');
  const store = new TurnStore({ redis: own, keyRing, nowMs: Date.now, historyLifeMs: 60_000 });
  fixture.startWorker(
    async ({ storeAnswer }) => {
      runs += 1;
      await redis.config('SET', 'maxmemory', '1');
      isStored = await storeAnswer('the answer');
      return { outcome: 'final', records: [] };
    },
    { redis: own, store },
  );
  await fixture.send(textMessage('a question'));
  await until(() => runs === 1);
  await sleep(1_000);
  expect(isStored).toBe(false);
  await redis.config('SET', 'maxmemory', '0');
  const freeAtMs = Date.now();
  await until(async () => (await redis.keys('*:inbox:*')).length === 0);
  expect([runs, isStored]).toEqual([1, true]);
  expect(fixture.reported.filter((line) => line.startsWith('resumed'))).toEqual([]);
  process.stdout.write(`redis-full: goes on ${((Date.now() - freeAtMs) / 1_000).toFixed(1)} s after there was room\n`);
  own.disconnect();
}, 60_000);

test('a full Redis still accepts a turn that is given back, without counting a crash [redis-full] [orderly-stop]', async () => {
  const { redis } = fixture.server;
  const message = textMessage('a question');
  const conversation = conversationOf(message, 'member');
  await fixture.inbox.accept(conversation, message);
  const claim = await fixture.store.begin(conversation);
  if (!claim) throw new Error('nothing waits');
  await redis.config('SET', 'maxmemory', '1');
  try {
    expect(await fixture.store.giveBack(claim, 0)).toBe(true);
  } finally {
    await redis.config('SET', 'maxmemory', '0');
  }
  expect((await fixture.store.begin(conversation))?.crashes).toBe(0);
});
