import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { connectRedis, type RedisClient } from '../../../src/shared/redis/redis.ts';
import { conversationOf } from '../../../src/bot/domain/conversation.ts';
import { asConversationId, asDeliveryId } from '../../../src/bot/domain/ids.ts';
import { SummaryQueue, type SummaryJob } from '../../../src/bot/queue/summary-queue.ts';
import { textMessage } from '../../support/messages.ts';
import { recordingLog } from '../../support/redis.ts';
import { untilTrue } from '../../support/deployment.ts';
import { useTestRedis } from '../../support/use-test-redis.ts';

const { log } = recordingLog();
const server = useTestRedis();

let endings: (() => Promise<void> | void)[] = [];
beforeEach(() => server.redis.flushall());
afterEach(async () => {
  for (const end of endings.toReversed()) await end();
  endings = [];
});

const requestFor = (turnId: string) => ({
  conversation: { ...conversationOf(textMessage('x'), 'member'), id: asConversationId(`conversation of ${turnId}`) },
  turnId: asDeliveryId(turnId),
  isShared: false,
});

/** A summary queue as a process has it, on its own connection. */
function startQueue(
  summarise: (job: SummaryJob, signal: AbortSignal) => Promise<unknown>,
  isUnderPressure = false,
): { queue: SummaryQueue; redis: RedisClient } {
  const redis = connectRedis({ urls: [server.url] }, 'wait', log, 'summaries');
  const queue = new SummaryQueue({ redis, summarise, isUnderPressure: () => Promise.resolve(isUnderPressure), log });
  endings.push(
    () => redis.disconnect(),
    () => queue.close(),
  );
  return { queue, redis };
}

const untilAborted = (signal: AbortSignal) =>
  new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
const connections = async () => String(await server.redis.client('LIST')).split('\n').length;

test('an unused queue opens no connection, writes no key and sends no command', async () => {
  const before = await connections();
  const { redis } = startQueue(() => Promise.resolve());
  await redis.ping();
  expect(await connections()).toBe(before + 1);
  expect(await server.redis.keys('*')).toEqual([]);
});

test('a job left waiting by a process that ended runs in the process of the next request', async () => {
  const begun: string[] = [];
  const first = startQueue((job, signal) => (begun.push(job.turnId), untilAborted(signal)));
  for (const turnId of ['t1', 't2']) first.queue.request(requestFor(turnId));
  await untilTrue(() => begun.length === 1);
  await first.queue.close();
  expect(begun).toEqual(['t1']);

  const done: string[] = [];
  const second = startQueue((job) => Promise.resolve(done.push(job.turnId)));
  second.queue.request(requestFor('t3'));
  await untilTrue(() => done.length === 2);
  expect(done).toEqual(['t2', 't3']);
});

test('at most one job per conversation waits or runs', async () => {
  const begun: string[] = [];
  let end = (): void => undefined;
  const { queue } = startQueue((job) => (begun.push(job.turnId), new Promise<void>((resolve) => (end = resolve))));
  queue.request(requestFor('t1'));
  await untilTrue(() => begun.length === 1);
  for (let count = 0; count < 3; count += 1) queue.request(requestFor('t1'));
  queue.request(requestFor('t2'));
  await untilTrue(async () => (await server.redis.llen('{summaries}:summaries:wait')) === 1);
  end();
  await untilTrue(() => begun.length === 2);
  end();
  expect(begun).toEqual(['t1', 't2']);
});

test('nothing is summarised while people wait for answers', async () => {
  const begun: string[] = [];
  const { queue } = startQueue((job) => Promise.resolve(begun.push(job.turnId)), true);
  queue.request(requestFor('t1'));
  await untilTrue(async () => (await server.redis.get('{summaries}:summaries:id')) === '1');
  await untilTrue(async () => (await server.redis.keys('{summaries}:*:de:*')).length === 0);
  expect(begun).toEqual([]);
});

test('closing aborts the running summary and refuses further requests', async () => {
  const signals: AbortSignal[] = [];
  const { queue } = startQueue((_job, signal) => (signals.push(signal), untilAborted(signal)));
  queue.request(requestFor('t1'));
  await untilTrue(() => signals.length === 1);
  // The summary ends only if it is aborted.
  await queue.close();
  expect(signals[0]?.aborted).toBe(true);
  queue.request(requestFor('t2'));
  expect(await server.redis.get('{summaries}:summaries:id')).toBe('1');
  expect(await server.redis.keys('{summaries}:*:de:*')).toEqual([]);
});
