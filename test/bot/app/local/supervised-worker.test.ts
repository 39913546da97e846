import { afterEach, expect, test } from '@jest/globals';
import { SupervisedWorker, type WorkerSuccession } from '../../../../src/bot/app/local/supervised-worker.ts';
import type { Config, Secrets } from '../../../../src/bot/config/config.ts';
import { recordingLog } from '../../../support/redis.ts';
import { untilTrue } from '../../../support/deployment.ts';

const PROGRAM = new URL('../../../support/obedient-worker.mjs', import.meta.url);
const { log, lines } = recordingLog();
const secrets = { secretKey: Buffer.from('secret') } as unknown as Secrets;
let kept: SupervisedWorker | undefined;
let mood = 'obeys';
let successions: WorkerSuccession[] = [];
afterEach(async () => {
  await kept?.stop(1);
  kept = undefined;
  mood = 'obeys';
  successions = [];
});

async function start(): Promise<SupervisedWorker> {
  kept = await SupervisedWorker.start({
    program: PROGRAM,
    settings: () => ({ config: { mood } as unknown as Config, secrets }),
    onSuccession: (succession) => successions.push(succession),
    log,
  });
  return kept;
}

function isAlive(processId: number | undefined): boolean {
  try {
    return process.kill(processId ?? 0, 0);
  } catch {
    return false;
  }
}

test('starts another worker after a kill and tells it whose turns to take over', async () => {
  const worker = await start();
  const first = worker.processId;
  expect(await worker.ask('running')).toBe(7);
  worker.kill();
  await untilTrue(() => successions.length === 1);
  expect(isAlive(first)).toBe(false);
  expect(successions).toEqual([{ processId: worker.processId, takenOver: 1, afterMs: expect.any(Number) }]);
  expect(lines.join('')).toContain('"signal":"SIGKILL"');
  // The first worker was already taken over and is not passed on again.
  worker.kill();
  await untilTrue(() => successions.length === 2);
  expect(successions[1]?.takenOver).toBe(1);
});

test('a replaced worker leaves no turns to take over, and its successor starts with the current settings', async () => {
  const worker = await start();
  await worker.replace(1);
  expect(successions).toMatchObject([{ takenOver: 0 }]);
  mood = 'fails';
  const replaced = worker.replace(1);
  mood = 'ends';
  await expect(replaced).rejects.toThrow(/before it was ready/);
  mood = 'obeys';
  await untilTrue(() => successions.length === 2);
  expect(await worker.ask('running')).toBe(7);
});

test('a stop ends the worker and starts no other, even during a restart', async () => {
  const worker = await start();
  const last = worker.processId;
  await worker.stop(1);
  expect(isAlive(last)).toBe(false);
  await expect(worker.ask('running')).rejects.toThrow();
  const again = await start();
  again.kill();
  await again.stop(1);
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(successions).toEqual([]);
});

test('reports why a worker did not start, and does not wait for a worker that never answers', async () => {
  mood = 'fails';
  await expect(start()).rejects.toThrow('It was told to fail');
  mood = 'ends';
  await expect(start()).rejects.toThrow(/ended before it was ready \(exit 1\)/);
  mood = 'obeys';
  await expect((await start()).ask('metrics')).rejects.toThrow('does not answer');
});
