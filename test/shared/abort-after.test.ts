import { expect, test } from '@jest/globals';
import { setTimeout as pause } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { abortAfter } from '../../src/shared/abort-after.ts';
import { untilTrue } from '../support/until-true.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Aborts of a signal that nothing but a listener refers to, in order, under frequent garbage collection. */
async function abortsOf(make: () => AbortSignal): Promise<unknown[]> {
  const reasons: unknown[] = [];
  const listen = () => {
    const signal = make();
    signal.addEventListener('abort', () => reasons.push((signal.reason as Error).name));
  };
  listen();
  for (let round = 0; round < 5; round += 1) {
    await pause(10);
    collectGarbage();
  }
  return reasons;
}

test('a limit ends its signal, alone or combined, although nothing refers to it', async () => {
  const outer = new AbortController();
  const alone = await abortsOf(() => abortAfter(200));
  const combined = await abortsOf(() => abortAfter(200, outer.signal));
  const nested = await abortsOf(() => abortAfter(60_000, abortAfter(200, outer.signal)));
  for (const reasons of [alone, combined, nested]) {
    await untilTrue(() => reasons.length > 0);
    expect(reasons).toEqual(['TimeoutError']);
  }
});

test('a combined signal ends with the other signal, and at once if that has ended', async () => {
  const outer = new AbortController();
  const reasons = await abortsOf(() => abortAfter(60_000, outer.signal));
  outer.abort();
  expect(reasons).toEqual(['AbortError']);
  expect(abortAfter(60_000, outer.signal).aborted).toBe(true);
});
