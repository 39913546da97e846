import { expect, test } from '@jest/globals';
import { stat } from 'node:fs/promises';
import { TooSlowError, withTimeout } from '../../src/shared/with-timeout.ts';

const never = new Promise<never>(() => undefined);

test('withTimeout rejects with TooSlowError at the deadline if the promise never settles [acknowledged-when-stored]', async () => {
  const startedMs = performance.now();
  await expect(withTimeout(never, 80)).rejects.toThrow(TooSlowError);
  const tookMs = performance.now() - startedMs;
  expect(tookMs).toBeGreaterThanOrEqual(75);
  expect(tookMs).toBeLessThan(10_000);
});

test('withTimeout passes on a result or error in time, and ignores a late rejection', async () => {
  expect(await withTimeout(Promise.resolve('stored'), 1_000)).toBe('stored');
  await expect(withTimeout(Promise.reject(new Error('refused')), 1_000)).rejects.toThrow('refused');
  const late = new Promise<never>((_resolve, reject) => setTimeout(() => reject(new Error('late')), 40));
  await expect(withTimeout(late, 5)).rejects.toThrow(TooSlowError);
  await new Promise((resolve) => setTimeout(resolve, 60));
});

test('a result that arrives while the event loop is blocked past the limit is in time', async () => {
  const answer = withTimeout(stat('.'), 20);
  await new Promise(setImmediate);
  for (const startedMs = performance.now(); performance.now() - startedMs < 200;);
  expect((await answer).isDirectory()).toBe(true);
});
