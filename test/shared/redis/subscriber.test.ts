import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { connectRedis, type RedisClient } from '../../../src/shared/redis/redis.ts';
import { subscribe } from '../../../src/shared/redis/subscriber.ts';
import { STOP_CHANNEL } from '../../../src/bot/domain/turn-news.ts';
import { untilTrue } from '../../support/deployment.ts';
import { startRedisCluster, type RedisGroup } from '../../support/redis-cluster.ts';
import { recordingLog } from '../../support/redis.ts';
import { useSlackDeployment } from '../../support/slack-deployment.ts';

const deployment = useSlackDeployment();
let group: RedisGroup;
let redis: RedisClient;
let servers: Redis[] = [];

beforeAll(async () => {
  group = await startRedisCluster();
  redis = connectRedis({ urls: group.url.split(',') }, 'wait', recordingLog().log, 'test');
  servers = group.servers.map(({ url }) => new Redis(url));
  await untilTrue(() => redis.status === 'ready');
  await Promise.all(servers.map((server) => server.ping()));
}, 60_000);
afterAll(async () => {
  redis.disconnect();
  for (const server of servers) server.disconnect();
  await group.stop();
});

const everywhere = (...command: [string, ...string[]]) => Promise.all(servers.map((server) => server.call(...command)));
const listening = async (channel: string) => {
  const counts = await Promise.all(servers.map((server) => server.pubsub('NUMSUB', channel)));
  return counts.reduce((sum, [, count]) => sum + Number(count), 0);
};

/** No node accepts a subscription for a second; all other connections stay. */
async function refuseSubscriptions(): Promise<void> {
  await everywhere('CONFIG', 'SET', 'maxclients', '1');
  await everywhere('CLIENT', 'KILL', 'TYPE', 'pubsub');
  await sleep(1_000);
  expect(await listening('news')).toBe(0);
  await everywhere('CONFIG', 'SET', 'maxclients', '10000');
}

test('a subscription on a cluster is restored and reported after no node accepted it for a while', async () => {
  const heard: string[] = [];
  let ready = 0;
  const end = subscribe(redis, {
    channel: 'news',
    onMessage: (text) => void heard.push(text),
    onReady: () => (ready += 1),
  });
  await untilTrue(async () => ready === 1 && (await listening('news')) === 1);
  await redis.publish('news', 'one');
  await untilTrue(() => heard.length === 1);

  await refuseSubscriptions();
  await untilTrue(async () => ready === 2 && (await listening('news')) === 1);
  await redis.publish('news', 'two');
  await untilTrue(() => heard.length === 2);
  expect(heard).toEqual(['one', 'two']);

  end();
  await untilTrue(async () => (await listening('news')) === 0);
}, 60_000);

test('a worker prints no warning of too many listeners while no node of its cluster accepts a subscription', async () => {
  const worker = await deployment.startProcess({ ROLES: 'worker', REDIS_URL: group.url });
  await untilTrue(async () => (await listening(STOP_CHANNEL)) === 1);
  await refuseSubscriptions();
  await untilTrue(async () => (await listening(STOP_CHANNEL)) === 1);
  expect(worker.output()).not.toContain('MaxListenersExceededWarning');
}, 60_000);
