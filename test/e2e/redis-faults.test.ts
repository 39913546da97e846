import { expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  HEALED_WITHIN_MS,
  inSec,
  REFUSED_WITHIN_MS,
  report,
  slowestMs,
  statusesOf,
  useSufferingRedis,
  type Sent,
} from '../support/suffering-redis.ts';
import { untilTrue } from '../support/deployment.ts';

const redis = useSufferingRedis();
const { deployment } = redis;

test('a bot started before its Redis answers 503 in time, reports not ready, and recovers within 5 s [redis-away-at-start] [acknowledged-when-stored]', async () => {
  await deployment.startProcess();
  const refused = await redis.deliver(3);
  expect(statusesOf(refused)).toEqual([503]);
  expect(slowestMs(refused)).toBeLessThan(REFUSED_WITHIN_MS);
  expect(await redis.isReady()).toBe(false);
  await redis.start();
  const startedMs = performance.now();
  await untilTrue(redis.isReady, HEALED_WITHIN_MS);
  const readyMs = performance.now() - startedMs;
  const { answeredMs, tried } = await redis.untilServed(HEALED_WITHIN_MS);
  expect(answeredMs).toBeLessThan(HEALED_WITHIN_MS);
  await redis.expectAnswered([...refused, ...tried]);
  report(
    `redis-away-at-start: 503 after at most ${inSec(slowestMs(refused))}, ready ${inSec(readyMs)} after Redis, answered ${inSec(answeredMs)} later`,
  );
}, 60_000);

test('three kills of Redis under load lose no acknowledged message and repeat no answer [redis-killed] [repeatable-scripts] [acknowledged-when-stored]', async () => {
  await redis.start();
  const bot = await deployment.startProcess();
  const all: Sent[] = [];
  const healedMs: number[] = [];
  for (let cycle = 0; cycle < 3; cycle += 1) {
    all.push(...(await redis.deliver(15)));
    const underway = redis.deliver(15);
    await sleep(20 * cycle);
    await redis.kill();
    all.push(...(await underway));
    const down = await redis.deliver(2);
    expect(statusesOf(down)).toEqual([503]);
    expect(slowestMs(down)).toBeLessThan(REFUSED_WITHIN_MS);
    await redis.start();
    const { answeredMs, tried } = await redis.untilServed();
    healedMs.push(answeredMs);
    all.push(...down, ...tried);
  }
  await redis.expectAnswered(all);
  expect(Math.max(...healedMs)).toBeLessThan(HEALED_WITHIN_MS);
  expect(bot.output()).not.toContain('Parley stops because of an unexpected error');
  const acknowledged = all.filter(({ status }) => status === 200).length;
  report(
    `redis-killed: ${acknowledged} acknowledged, all answered once; the first answer ${healedMs.map(inSec).join(', ')} after Redis`,
  );
}, 120_000);

test('while Redis is frozen every delivery gets 503 within 2 s, and 200 within 5 s of its return [redis-frozen] [acknowledged-when-stored]', async () => {
  await redis.start();
  await deployment.startProcess();
  const before = await redis.deliver(3);
  redis.signal('SIGSTOP');
  const refused: Sent[] = [];
  const untilMs = performance.now() + 12_000;
  while (performance.now() < untilMs) refused.push(...(await redis.deliver(2)));
  redis.signal('SIGCONT');
  expect(statusesOf(refused)).toEqual([503]);
  expect(slowestMs(refused)).toBeLessThan(REFUSED_WITHIN_MS);
  const { takenMs, answeredMs, tried } = await redis.untilServed(HEALED_WITHIN_MS);
  expect(answeredMs).toBeLessThan(HEALED_WITHIN_MS);
  await redis.expectAnswered([...before, ...refused, ...tried]);
  report(
    `redis-frozen: ${refused.length} refused after at most ${inSec(slowestMs(refused))}, taken again ${inSec(takenMs)} and answered ${inSec(answeredMs)} later`,
  );
}, 90_000);
