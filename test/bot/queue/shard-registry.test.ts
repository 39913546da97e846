import { expect, test } from '@jest/globals';
import { conversationOf } from '../../../src/bot/domain/conversation.ts';
import { readAllShards, ShardRegistry } from '../../../src/bot/queue/shard-registry.ts';
import { WakeQueue } from '../../../src/bot/queue/wake-queue.ts';
import { messageOf, until, useWorkerFixture } from './worker-fixture.ts';

const fixture = useWorkerFixture();

test('reads the shards of an older shard count until they are empty, and deletes their keys once that count is no longer announced', async () => {
  const { redis } = fixture.server;
  const older = new WakeQueue(redis, 3, fixture.log);
  await new ShardRegistry(redis, 3).report();
  for (let index = 0; index < 9; index += 1) {
    const message = messageOf(`person${index}`, 'a question');
    await fixture.inbox.accept(conversationOf(message, 'member'), message);
    await older.wake(conversationOf(message, 'member'));
  }
  await older.close();

  let answered = 0;
  const worker = fixture.startWorker(async () => {
    answered += 1;
    return { outcome: 'final', records: [] };
  });
  const registry = new ShardRegistry(redis, 1);
  await readAllShards(registry, worker);
  await until(() => answered === 9);
  await readAllShards(registry, worker);
  expect(await redis.exists('{wake1}:turns:meta', '{wake2}:turns:meta')).toBe(2);
  expect(await redis.zrange('wakes:shards', '0', '-1')).toEqual(['3', '1']);

  await redis.zincrby('wakes:shards', -61_000, '3');
  // One of the old shards is not empty.
  await redis.lpush('{wake2}:turns:active', 'somebody');
  await readAllShards(registry, worker);
  expect(await redis.zrange('wakes:shards', '0', '-1')).toEqual(['3', '1']);
  await redis.del('{wake2}:turns:active');
  await readAllShards(registry, worker);
  expect(await redis.zrange('wakes:shards', '0', '-1')).toEqual(['1']);
  // The mark of the last scan for dead workers expires.
  await until(async () => (await redis.keys('{wake[12]}:*')).length === 0);
  expect(worker.isReady()).toBe(true);
});

test('reads the shards of another shard count as long as it is announced', async () => {
  const { redis } = fixture.server;
  const worker = fixture.startWorker(async () => ({ outcome: 'final', records: [] }));
  const registry = new ShardRegistry(redis, 2);
  expect(await registry.report()).toEqual({ used: 2, known: 2 });
  expect(await new ShardRegistry(redis, 10).report()).toEqual({ used: 10, known: 10 });
  await redis.zincrby('wakes:shards', -61_000, '10');
  expect(await registry.report()).toEqual({ used: 2, known: 10 });
  await new ShardRegistry(redis, 10).report();
  await readAllShards(registry, worker);
  expect(await registry.report()).toEqual({ used: 10, known: 10 });
});
