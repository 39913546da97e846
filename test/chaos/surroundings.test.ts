import { afterEach, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { startRedisPair } from '../../chaos/redis-pair.ts';
import { startRedisInstance } from '../../chaos/redis-instance.ts';
import { KeyRing } from '../../src/shared/crypto/key-ring.ts';
import { createRolls } from '../../chaos/rolling.ts';
import { startFakeSlack } from '../support/fake-slack.ts';
import { untilTrue } from '../support/deployment.ts';

const endings: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

function connectTo(port: number): Redis {
  const redis = new Redis(port, '127.0.0.1', { maxRetriesPerRequest: null });
  redis.on('error', () => undefined);
  endings.push(() => redis.disconnect());
  return redis;
}
const write = (redis: Redis) => redis.set('key', 'value').catch((error: unknown) => String(error));

test('the test Redis refuses writes in five ways, each with its own error, still serves reads, and accepts writes afterwards', async () => {
  const instance = await startRedisInstance();
  endings.push(() => instance.close());
  const redis = connectTo(instance.port);
  await redis.set('key', 'read');
  const words = { full: 'OOM', misconf: 'MISCONF', noperm: 'NOPERM', readonly: 'READONLY', noreplicas: 'NOREPLICAS' };
  for (const [why, word] of Object.entries(words)) {
    expect(await write(redis)).toBe('OK');
    const refusing = instance.refuse(why as keyof typeof words, 600);
    await untilTrue(async () => (await write(redis)).includes(word));
    expect(await redis.get('key')).toBe('value');
    await refusing;
  }
  expect(await write(redis)).toBe('OK');
}, 60_000);

test('a copy of Redis has the state of the moment of the copy', async () => {
  const instance = await startRedisInstance();
  endings.push(() => instance.close());
  const redis = connectTo(instance.port);
  await redis.set('early', 'kept');
  await redis.config('SET', 'appendfsync', 'always');
  await redis.set('key', 'of the copy');
  instance.backUp();
  await redis.set('key', 'of later');
  await instance.restore();
  expect(await redis.mget('early', 'key')).toEqual(['kept', 'of the copy']);
}, 60_000);

test('a replica takes over with the data that it has, behind the same address', async () => {
  const pair = await startRedisPair(0);
  endings.push(() => pair.close());
  const redis = connectTo(pair.port);
  await redis.set('before', 'known');
  await redis.wait(1, 5_000);
  pair.replication.breakWith({ kind: 'hold', heals: false });
  await redis.set('behind', 'lost');
  await pair.failOver(100);
  await untilTrue(async () => (await redis.get('before')) === 'known');
  expect(await redis.get('behind')).toBeNull();
  expect(await write(redis)).toBe('OK');
}, 60_000);

test('a split brain leaves some clients with the old master, which accepts no write without its replica', async () => {
  const pair = await startRedisPair(1);
  endings.push(() => pair.close());
  expect(pair.portFor('worker1')).toBe(pair.portFor('worker2'));
  const old = connectTo(pair.portFor('worker1'));
  const splitting = pair.split(4_000, (name) => name === 'worker1');
  await untilTrue(() => pair.portFor('worker1') !== pair.portFor('worker2'));
  const next = connectTo(pair.portFor('worker2'));
  expect(await write(next)).toBe('OK');
  await untilTrue(async () => (await write(old)).includes('NOREPLICAS'));
  await splitting;
  expect(pair.portFor('worker1')).toBe(pair.portFor('worker2'));
}, 60_000);

test('a late Slack executes abandoned calls, and may lose the response', async () => {
  const slack = await startFakeSlack('xoxb-late');
  endings.push(() => slack.close());
  const post = (signal: AbortSignal) =>
    fetch(`${slack.apiUrl}/chat.postMessage`, {
      ...{ method: 'POST', signal, headers: { authorization: 'Bearer xoxb-late' } },
      body: JSON.stringify({ channel: 'DU1', thread_ts: '1.1', markdown_text: 'late' }),
    }).then(
      ({ status }) => status,
      () => 'no answer' as const,
    );
  const caller = new AbortController();
  slack.meet(() => {
    // The call has arrived, and its caller no longer waits.
    caller.abort();
    return { kind: 'late', afterMs: 200, isAnswered: true };
  });
  expect(await post(caller.signal)).toBe('no answer');
  expect(slack.messages).toEqual([]);
  await untilTrue(() => slack.messages.length === 1);
  slack.meet(() => ({ kind: 'late', afterMs: 1, isAnswered: false }));
  expect(await post(AbortSignal.timeout(5_000))).toBe('no answer');
  expect(slack.messages).toHaveLength(2);
  slack.meet(() => undefined);
  expect(await post(AbortSignal.timeout(5_000))).toBe(200);
});

test('a status is shown until the next message of the bot in its thread', async () => {
  const slack = await startFakeSlack('xoxb-status');
  endings.push(() => slack.close());
  const call = (method: string, body: object) =>
    fetch(`${slack.apiUrl}/${method}`, {
      ...{ method: 'POST', headers: { authorization: 'Bearer xoxb-status' }, body: JSON.stringify(body) },
    });
  const says = (status: string) => call('assistant.threads.setStatus', { channel_id: 'DU1', thread_ts: '1.1', status });
  const texts = () => slack.statuses().map(({ text }) => text);
  await says('is thinking…');
  expect(texts()).toEqual(['is thinking…']);
  await call('chat.postMessage', { channel: 'DU1', thread_ts: '1.1', markdown_text: 'the answer' });
  expect(texts()).toEqual([]);
  await says('is thinking…');
  await says('');
  expect(texts()).toEqual([]);
});

test('a key change adds the new key and keeps the old one until the next roll, and the group scope alternates', () => {
  const first = Buffer.alloc(32, 1).toString('base64');
  const rolls = createRolls(first);
  expect(rolls.settingsFor('nothing')).toEqual({});
  expect(rolls.oldKeyId).toBeUndefined();
  const added = rolls.settingsFor('new-key');
  expect(added).toEqual({ SECRET_KEY: added['SECRET_KEY'], SECRET_KEY_PREVIOUS: first });
  expect(added['SECRET_KEY']).not.toBe(first);
  // Encrypted values show the id of their key, so the test can see when none needs the old key.
  expect(new KeyRing([Buffer.alloc(32, 1)]).seal('message', 'm', 'x')).toContain(`s1.${rolls.oldKeyId}.`);
  expect(rolls.settingsFor('drop-old-key')).toEqual({ SECRET_KEY_PREVIOUS: '' });
  expect(rolls.settingsFor('new-key')['SECRET_KEY_PREVIOUS']).toBe(added['SECRET_KEY']);
  expect(rolls.settingsFor('group-scope')).toEqual({ GROUP_SCOPE: 'group' });
  expect(rolls.settingsFor('group-scope')).toEqual({ GROUP_SCOPE: 'member' });
});
