import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { pendingKey } from '../../../src/bot/domain/partition-keys.ts';
import { connectRedis, type RedisClient } from '../../../src/shared/redis/redis.ts';
import { conversationOf, type ConversationRef } from '../../../src/bot/domain/conversation.ts';
import type { InboundMessage } from '../../../src/bot/domain/message.ts';
import { Inbox } from '../../../src/bot/queue/accept.ts';
import { Sweeper } from '../../../src/bot/queue/sweeper.ts';
import { enqueue } from '../../../src/bot/queue/enqueue.ts';
import { createCountWaiting } from '../../../src/bot/queue/waiting-questions.ts';
import { TurnStore } from '../../../src/bot/queue/turn-store.ts';
import { WakeQueue } from '../../../src/bot/queue/wake-queue.ts';
import { testKeyRing } from '../../support/messages.ts';
import { recordingLog } from '../../support/redis.ts';
import type { QueueReport } from '../../../src/bot/queue/queue-report.ts';
import { startRedisCluster, type RedisGroup } from '../../support/redis-cluster.ts';
import { messageOf, until } from './worker-fixture.ts';

const { log } = recordingLog();
let group: RedisGroup;
let redis: RedisClient;
const keyRing = testKeyRing();
let wakeQueue: WakeQueue;
let inbox: Inbox;

beforeAll(async () => {
  group = await startRedisCluster();
  for (const { url } of group.servers) {
    const server = new Redis(url, { maxRetriesPerRequest: null });
    // The other masters still serve their keys when one is down.
    await server.config('SET', 'cluster-require-full-coverage', 'no');
    server.disconnect();
  }
  redis = connectRedis({ urls: group.url.split(',') }, 'wait', log, 'test');
  await until(() => redis.status === 'ready');
  wakeQueue = new WakeQueue(redis, 1, log);
  inbox = new Inbox({ redis, keyRing });
}, 60_000);
afterEach(() => {
  for (const { pid } of group.servers) process.kill(pid, 'SIGCONT');
});
afterAll(async () => {
  await wakeQueue.close();
  redis.disconnect();
  await group.stop();
});

/** The index of the master that owns a key: the three masters share the slots evenly, in order. */
async function masterOf(key: string): Promise<number> {
  const slot = await redis.cluster('KEYSLOT', key);
  return Math.min(2, Math.floor(slot / (16_384 / 3)));
}

/** A message whose conversation is on another master than the wake queue. */
async function messageElsewhere(): Promise<{ message: InboundMessage; conversation: ConversationRef; master: number }> {
  const ofWakes = await masterOf('{wake0}:turns:id');
  for (let index = 0; index < 1_000; index += 1) {
    const message = messageOf(`person${index}`, 'a question');
    const conversation = conversationOf(message, 'member');
    const master = await masterOf(pendingKey(conversation.partition));
    if (master !== ofWakes) return { message, conversation, master };
  }
  throw new Error('all conversations lie beside the queue of wakes');
}

test('a wake is enqueued only after its message is stored, although a cluster has no common order of writes', async () => {
  const { message, conversation, master } = await messageElsewhere();
  process.kill(group.servers[master]?.pid ?? 0, 'SIGSTOP');
  const stored = enqueue({ inbox, wakeQueue, log }, conversation, message);
  await sleep(300);
  expect(await redis.get('{wake0}:turns:id')).toBeNull();
  process.kill(group.servers[master]?.pid ?? 0, 'SIGCONT');
  expect(await stored).toMatchObject({ result: 'new' });
  await until(async () => (await redis.get('{wake0}:turns:id')) === '1');
});

test('while one master of a cluster is down, the sweeper wakes the conversations on the others and reports the missed partitions', async () => {
  const ofWakes = await masterOf('{wake0}:turns:id');
  const reported: string[] = [];
  const report = {
    wakeRepeated: ({ count }: { count: number }) => void reported.push(`woken ${count}`),
    partitionsMissed: ({ count }: { count: number }) => void reported.push(`missed ${count}`),
  } as QueueReport;
  // The stalled master also owns a shard of a larger queue.
  let shard = 1;
  while ((await masterOf(`{wake${shard}}`)) === ofWakes) shard += 1;
  const gone = await masterOf(`{wake${shard}}`);
  const allShards = new WakeQueue(redis, shard + 1, log);
  let reachable = 0;
  for (let index = 0; index < 60; index += 1) {
    const message = messageOf(`waiting${index}`, 'a question');
    const conversation = conversationOf(message, 'member');
    await inbox.accept(conversation, message);
    await redis.zincrby(pendingKey(conversation.partition), -60_000, conversation.id);
    if ((await masterOf(pendingKey(conversation.partition))) !== gone) reachable += 1;
  }
  const pid = group.servers[gone]?.pid ?? 0;
  const sweeper = new Sweeper({ redis, wakeQueue, log, report });
  process.kill(pid, 'SIGSTOP');
  const found = await Promise.race([sweeper.sweep(), sleep(10_000)]);
  // A second sweep must not wait for the calls that the first one still waits for.
  await Promise.race([sweeper.sweep(), sleep(10_000)]);
  expect(await Promise.race([allShards.waiting(), sleep(10_000)])).toBeGreaterThanOrEqual(reachable);
  process.kill(pid, 'SIGCONT');
  expect(found).toBe(reachable);
  expect(reported.slice(0, 2)).toEqual([expect.stringMatching(/^missed [1-9]/), `woken ${reachable}`]);
  await until(async () => (await sweeper.sweep(), reported.includes('missed 0')), 15_000);
  const told = reported.filter((words) => words.startsWith('missed'));
  expect(told.filter((words, index) => words === told[index - 1])).toEqual([]);
  await allShards.close();
}, 60_000);

test('the messages of one person per minute are counted once across chats, processes and nodes', async () => {
  const inboxes = [inbox, new Inbox({ redis, keyRing })];
  const userId = 'one-person';
  const results: string[] = [];
  for (let count = 0; count < 64; count += 1) {
    const message = { ...messageOf(userId, 'hello'), chat: { kind: 'group', id: `group-${count}` } } as const;
    const process = inboxes[count % 2] ?? inbox;
    results.push((await process.accept(conversationOf(message, 'member'), message)).result);
    // A repeat does not count.
    expect((await process.accept(conversationOf(message, 'member'), message)).result).not.toBe('new');
    await sleep(5);
  }
  const taken = results.filter((result) => result === 'new').length;
  // Counts of another process are known after each message, or a few later on a busy machine. Separate counts would allow
  // 40.
  expect([taken >= 20, taken < 30]).toEqual([true, true]);
  const other = messageOf('somebody-else', 'hello');
  expect((await inbox.accept(conversationOf(other, 'member'), other)).result).toBe('new');
});

test('waiting messages are counted over all nodes without those of a running turn, and not at all while a node is down', async () => {
  const before = (await createCountWaiting(redis)())?.waiting ?? Number.NaN;
  const store = new TurnStore({ redis, keyRing, nowMs: Date.now, historyLifeMs: 60_000 });
  for (let index = 0; index < 5; index += 1) {
    const message = messageOf(`counted${index}`, 'a question');
    await inbox.accept(conversationOf(message, 'member'), message);
    if (index < 2) await store.begin(conversationOf(message, 'member'));
  }
  const behind = messageOf('counted0', 'another question');
  await inbox.accept(conversationOf(behind, 'member'), behind);
  await sleep(20);
  const counted = await createCountWaiting(redis)();
  expect(counted?.waiting).toBe(before + 4);
  expect(counted?.longestMs).toBeGreaterThanOrEqual(20);
  process.kill(group.servers[1]?.pid ?? 0, 'SIGSTOP');
  expect(await createCountWaiting(redis)()).toBeUndefined();
});
