import { expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { inBackground } from '../../src/shared/in-background.ts';

test('errors of background work are reported and not rethrown', async () => {
  const told: string[] = [];
  const tell = (error: Error) => void told.push(error.message);
  inBackground(() => Promise.reject(new Error('rejected')), tell);
  inBackground(() => {
    throw new Error('thrown');
  }, tell);
  inBackground(async () => 'well', tell);
  inBackground(() => Promise.reject(new Error('of no interest')));
  await sleep(0);
  expect(told.sort()).toEqual(['rejected', 'thrown']);
});
