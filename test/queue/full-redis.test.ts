import { expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { Sweeper } from '../../src/queue/sweeper.ts';
import { textMessage } from '../support/messages.ts';
import { until, useWorkerScene } from './worker-scene.ts';

const scene = useWorkerScene();

test('F11, security.md 4.2: a running turn that meets a full Redis is given back and run again, and no crash is counted', async () => {
  const { redis } = scene.server;
  const crashes: number[] = [];
  const refused: string[] = [];
  scene.startWorker(async ({ claim, storeAnswer }) => {
    crashes.push(claim.crashes);
    if (crashes.length === 1) await redis.config('SET', 'maxmemory', '1');
    await storeAnswer('the answer').catch((error: unknown) => {
      refused.push(String(error));
      throw error;
    });
    return { outcome: 'final', records: [] };
  });
  await scene.send(textMessage('a question'));
  await until(() => refused.length > 0);
  expect(refused[0]).toContain('OOM');
  await sleep(300);
  await redis.config('SET', 'maxmemory', '0');
  const freeAtMs = Date.now();
  await until(async () => {
    await new Sweeper({ ...scene, redis }).sweep();
    await sleep(200);
    return crashes.length === 2;
  }, 25_000);
  await until(async () => (await redis.keys('*:inbox:*')).length === 0);
  expect(crashes).toEqual([0, 0]);
  expect(scene.reported.filter((line) => line.startsWith('resumed'))).toEqual([]);
  process.stdout.write(`F11: run again ${((Date.now() - freeAtMs) / 1_000).toFixed(1)} s after there was room\n`);
}, 40_000);
