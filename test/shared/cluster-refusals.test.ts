import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { loadScript } from '../../src/shared/redis/lua-script.ts';
import { connectRedis, type RedisClient, type RedisPatience } from '../../src/shared/redis/redis.ts';
import { isRefusal } from '../../src/shared/redis/retry-readonly.ts';
import { ask, slotMover, startRedisCluster, type RedisGroup } from '../support/redis-cluster.ts';
import { recordingLog } from '../support/redis.ts';
import { untilTrue } from '../support/deployment.ts';

const { log } = recordingLog();
let group: RedisGroup;
const open: RedisClient[] = [];

beforeAll(async () => {
  group = await startRedisCluster();
}, 60_000);
afterAll(async () => {
  for (const redis of open) redis.disconnect();
  await group.stop();
});

/** A script that no connection has sent yet. */
const freshScript = () =>
  loadScript(import.meta.url, './scripts/join-both.lua', {
    constants: { FRESH: String(performance.now()) },
    keys: ['one', 'other'],
    args: ['text'],
    answer: 'text',
  });
async function connect(patience: RedisPatience): Promise<RedisClient> {
  const redis = connectRedis({ urls: group.url.split(',') }, patience, log, patience);
  open.push(redis);
  await untilTrue(() => redis.status === 'ready');
  return redis;
}
const keysOf = (tag: string) => ({ one: `{${tag}}one`, other: `{${tag}}other` });
/** Longer than ioredis follows 16 redirections. */
const LONGER_MS = 3_000;

describe('a worker during a change of the cluster, which waits and runs its commands once', () => {
  test('a connection opened while the cluster is down becomes ready once it is back, also for its waiting callers', async () => {
    const redis = await connect('wait');
    const slot = await redis.cluster('KEYSLOT', 'away');
    const owner = group.servers[Math.min(2, Math.floor(slot / (16_384 / 3)))]!;
    const isUp = async () => (await ask(owner.url, 'CLUSTER', 'INFO')).includes('cluster_state:ok');
    redis.disconnect();
    await untilTrue(() => redis.status === 'end');
    for (const { url } of group.servers) await ask(url, 'CLUSTER', 'DELSLOTS', String(slot));
    await untilTrue(async () => !(await isUp()));
    const connected = redis.connect().then(() => 'connected');
    const stored = redis.set('away', 'here');
    await sleep(500);
    await ask(owner.url, 'CLUSTER', 'ADDSLOTS', String(slot));
    expect(await Promise.race([Promise.all([connected, stored]), sleep(5_000)])).toEqual(['connected', 'OK']);
  });

  test('while a slot is half moved, with the script new to every node [refused-write]', async () => {
    const redis = await connect('wait');
    const keys = keysOf('half');
    await redis.set(keys.one, 'a');
    await redis.set(keys.other, 'b');
    const slot = slotMover(group, await redis.cluster('KEYSLOT', keys.one));
    await slot.begin();
    await slot.moveKey(keys.one);
    const names = Array.from({ length: 8 }, (_, index) => `library${index}`);
    const run = names.map((name, index) => {
      // Like the queue's library, without the script retries of this project.
      redis.defineCommand(name, { numberOfKeys: 2, lua: `return redis.call('MGET', KEYS[1], KEYS[2]) -- ${name}` });
      const library = redis as unknown as Record<string, (...args: string[]) => Promise<string[]>>;
      return Promise.all([
        freshScript().run(redis, keys, { text: String(index) }),
        library[name]?.(keys.one, keys.other),
        redis.mget(keys.one, keys.other),
      ]);
    });
    let isDone = false;
    const done = Promise.all(run).then((values) => ((isDone = true), values));
    await sleep(LONGER_MS);
    expect(isDone).toBe(false);
    await slot.end();
    expect(await done).toHaveLength(8);
    expect([...((await redis.get(keys.one)) ?? '').slice(1)].sort().join('')).toBe('01234567');
    expect([...((await redis.get(keys.other)) ?? '').slice(1)].sort().join('')).toBe('01234567');
  }, 60_000);

  test('while slots are unowned (CLUSTERDOWN) [refused-write]', async () => {
    const redis = await connect('wait');
    const keys = keysOf('unowned');
    const slot = await redis.cluster('KEYSLOT', keys.one);
    const owner = Math.min(2, Math.floor(slot / (16_384 / 3)));
    const servers = group.servers.map(({ url }) => new Redis(url));
    for (const server of servers) await server.cluster('DELSLOTS', slot);
    const sent = Promise.all([freshScript().run(redis, keys, { text: 'x' }), redis.set(`${keys.one}plain`, '1')]);
    let isDone = false;
    const done = sent.finally(() => (isDone = true));
    done.catch(() => undefined);
    await sleep(LONGER_MS);
    expect(isDone).toBe(false);
    await servers[owner]?.cluster('ADDSLOTS', slot);
    expect(await done).toEqual(['x', 'OK']);
    for (const server of servers) server.disconnect();
  }, 60_000);

  test('while all of its nodes are restarted, without a warning of too many listeners [refused-write]', async () => {
    const warnings: string[] = [];
    const hear = (warning: Error) => void warnings.push(warning.name);
    process.on('warning', hear);
    const redis = await connect('wait');
    const keys = keysOf('restarted');
    await freshScript().run(redis, keys, { text: 'x' });
    for (const { pid } of group.servers) process.kill(pid, 'SIGSTOP');
    const clients = (redis as unknown as { nodes(): Redis[] }).nodes();
    for (const node of clients) (node.stream as typeof node.stream | undefined)?.destroy();
    const sent = Array.from({ length: 40 }, () => freshScript().run(redis, keys, { text: 'y' }));
    await sleep(LONGER_MS);
    for (const { pid } of group.servers) process.kill(pid, 'SIGCONT');
    expect(await Promise.all(sent)).toHaveLength(40);
    process.off('warning', hear);
    expect(warnings).toEqual([]);
  }, 60_000);
});

test('a receiver is refused within its deadline while a slot is half moved [refused-write]', async () => {
  const redis = await connect('fail-fast');
  const keys = keysOf('fast');
  await redis.set(keys.one, 'a');
  await redis.set(keys.other, 'b');
  const slot = slotMover(group, await redis.cluster('KEYSLOT', keys.one));
  await slot.begin();
  await slot.moveKey(keys.one);
  const startedMs = performance.now();
  await expect(freshScript().run(redis, keys, { text: 'c' })).rejects.toThrow();
  // A command has 1.2 s; the rest allows for a busy machine.
  expect(performance.now() - startedMs).toBeLessThan(6_000);
  await slot.end();
  await untilTrue(
    async () =>
      (await freshScript()
        .run(redis, keys, { text: 'c' })
        .catch(() => '')) !== '',
  );
}, 60_000);

test.each([
  'OOM command not allowed when used memory > ’maxmemory’.',
  'MISCONF Redis is configured to save RDB snapshots, but it’s currently unable to persist to disk.',
  'CLUSTERDOWN The cluster is down',
  'CLUSTERDOWN Hash slot not served',
  'TRYAGAIN Multiple keys request during rehashing of slot',
  'MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to ’no’.',
  'LOADING Redis is loading the dataset in memory',
  'READONLY You can’t write against a read only replica. script: 1f, on @user_script:3.',
  'NOREPLICAS Not enough good replicas to write.',
  'BUSY Redis is busy running a script.',
  'NOSCRIPT No matching script. Please use EVAL.',
  'Too many Cluster redirections. Last error: ReplyError: CLUSTERDOWN The cluster is down',
  'Too many Cluster redirections. Last error: ReplyError: MOVED 12 127.0.0.1:7000',
  'Too many Cluster redirections. Last error: ReplyError: ASK 12 127.0.0.1:7000',
  'ERR Error running script (call to f_1f): @user_script:5: -OOM command not allowed',
  'ERR Error running script (call to f_1f): @user_script: 5: -READONLY You can’t write against a read only replica.',
])('a temporary refusal is recognised by its code: %s', (message) => {
  expect(isRefusal(new Error(message))).toBe(true);
});

test.each([
  'WRONGTYPE Operation against a key holding the wrong kind of value',
  'ERR user_script:3: attempt to index a nil value, OOM',
  'CROSSSLOT Keys in request don’t hash to the same slot',
  'WRONGPASS invalid username-password pair',
  'NOAUTH Authentication required.',
  'OOMS is no code',
  'Command timed out',
  '',
])('a permanent error does not count as a temporary refusal: %s', (message) => {
  expect(isRefusal(new Error(message))).toBe(false);
});
