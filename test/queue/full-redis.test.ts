import { expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { connectRedis } from '../../src/base/redis.ts';
import { conversationOf } from '../../src/domain/conversation.ts';
import { TurnStore } from '../../src/queue/turn-store.ts';
import { textMessage } from '../support/messages.ts';
import { until, useWorkerScene } from './worker-scene.ts';

const scene = useWorkerScene();

test('a running turn that meets a full Redis waits for room, and runs once [redis-full] [poison-turns]', async () => {
  const { redis } = scene.server;
  const { keyRing, log } = scene;
  let runs = 0;
  let isStored = false;
  // A worker's own connection is patient; the scene's is a test's.
  const own = connectRedis({ urls: [scene.server.url] }, 'wait', log, 'worker');
  const store = new TurnStore({ redis: own, keyRing, nowMs: Date.now, historyLifeMs: 60_000 });
  scene.startWorker(
    async ({ storeAnswer }) => {
      runs += 1;
      await redis.config('SET', 'maxmemory', '1');
      isStored = await storeAnswer('the answer');
      return { outcome: 'final', records: [] };
    },
    { redis: own, store },
  );
  await scene.send(textMessage('a question'));
  await until(() => runs === 1);
  await sleep(1_000);
  expect(isStored).toBe(false);
  await redis.config('SET', 'maxmemory', '0');
  const freeAtMs = Date.now();
  await until(async () => (await redis.keys('*:inbox:*')).length === 0);
  expect([runs, isStored]).toEqual([1, true]);
  expect(scene.reported.filter((line) => line.startsWith('resumed'))).toEqual([]);
  process.stdout.write(`redis-full: goes on ${((Date.now() - freeAtMs) / 1_000).toFixed(1)} s after there was room\n`);
  own.disconnect();
}, 40_000);

test('a full Redis still takes a turn back, as one that did not crash [redis-full] [orderly-stop]', async () => {
  const { redis } = scene.server;
  const message = textMessage('a question');
  const conversation = conversationOf(message, 'member');
  await scene.inbox.accept(conversation, message);
  const claim = await scene.store.begin(conversation);
  if (!claim) throw new Error('nothing waits');
  await redis.config('SET', 'maxmemory', '1');
  const isTaken = await scene.store.giveBack(claim, 0).finally(() => redis.config('SET', 'maxmemory', '0'));
  expect(isTaken).toBe(true);
  expect((await scene.store.begin(conversation))?.crashes).toBe(0);
});
