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

const redis = useSufferingRedis();
const { deployment } = redis;

test('with Redis 200 ms away deliveries are acknowledged within 1.5 s, and no turn counts as stalled [redis-far-away] [acknowledged-when-stored]', async () => {
  const proxy = await redis.startBehindProxy();
  const bot = await deployment.startProcess();
  // The delay applies in each direction.
  proxy.breakWith({ kind: 'delay', delayMs: 100 });
  const all: Sent[] = [];
  for (let lot = 0; lot < 5; lot += 1) all.push(...(await redis.deliver(4)));
  expect(statusesOf(all)).toEqual([200]);
  expect(slowestMs(all)).toBeLessThan(REFUSED_WITHIN_MS);
  await redis.expectAnswered(all);
  expect(bot.output()).not.toMatch(/silent worker|not renewed in time/);
  report(`redis-far-away: ${all.length} taken, the slowest after ${inSec(slowestMs(all))}`);
}, 90_000);

test('with Redis 2 s away every delivery gets 503 in time, and is answered once when the platform repeats it [redis-far-away] [acknowledged-when-stored]', async () => {
  const proxy = await redis.startBehindProxy();
  await deployment.startProcess();
  const before = await redis.deliver(1);
  proxy.breakWith({ kind: 'delay', delayMs: 1_000 });
  const slow = await redis.deliver(12);
  expect(statusesOf(slow)).toEqual([503]);
  expect(slowestMs(slow)).toBeLessThan(REFUSED_WITHIN_MS);
  // Refused deliveries still reach Redis later. None may count as lost or be answered twice.
  await sleep(4_000);
  const stored = Number(await redis.tell('EVAL', "return #redis.call('KEYS', '{p*}:message:*')", '0')) - before.length;
  proxy.mend();
  await redis.untilServed(HEALED_WITHIN_MS);
  const repeated = await Promise.all(slow.map(redis.deliverAgain));
  expect(statusesOf(repeated)).toEqual([200]);
  await redis.expectAllAnswered([...before, ...repeated]);
  report(
    `redis-far-away: 12 refused after at most ${inSec(slowestMs(slow))}, ${stored} of them stored all the same, each answered once`,
  );
}, 90_000);

test('with a slow Redis that keeps answering, deliveries are accepted within the time that the platform waits [redis-far-away] [acknowledged-when-stored]', async () => {
  const proxy = await redis.startBehindProxy();
  await deployment.startProcess();
  const before = await redis.deliver(1);
  proxy.breakWith({ kind: 'delay', delayMs: 1_000 });
  const sending: Promise<Sent[]>[] = [];
  for (let lot = 0; lot < 16; lot += 1) {
    sending.push(redis.deliver(1));
    await sleep(200);
  }
  const slow = (await Promise.all(sending)).flat();
  // Responses to the first deliveries show that Redis answers.
  expect(statusesOf(slow.slice(8))).toEqual([200]);
  expect(slowestMs(slow)).toBeLessThan(4_500);
  proxy.mend();
  const refused = slow.filter(({ status }) => status !== 200);
  const again = await Promise.all(refused.map(redis.deliverAgain));
  await redis.expectAllAnswered([...before, ...slow.filter(({ status }) => status === 200), ...again], 60_000);
}, 120_000);

test('with Redis 1 s away a delivery is accepted or refused within the deadline, and each is answered once [redis-far-away]', async () => {
  const proxy = await redis.startBehindProxy();
  await deployment.startProcess();
  const before = await redis.deliver(1);
  proxy.breakWith({ kind: 'delay', delayMs: 500 });
  const slow = await redis.deliver(12);
  expect(slowestMs(slow)).toBeLessThan(REFUSED_WITHIN_MS);
  for (const sent of slow) if (sent.status !== 200) await redis.deliverAgain(sent);
  await redis.expectAllAnswered([...before, ...slow], 60_000);
  const taken = slow.filter(({ status }) => status === 200).length;
  report(
    `redis-far-away: ${taken} of 12 taken at once, the slowest answer after ${inSec(slowestMs(slow))}, each answered once`,
  );
}, 120_000);
