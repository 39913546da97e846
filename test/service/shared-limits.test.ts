import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { KeyRing } from '../../src/shared/crypto/key-ring.ts';
import { connectRedis } from '../../src/shared/redis/redis.ts';
import { recordingLog } from '../support/redis.ts';
import { useTestRedis } from '../support/use-test-redis.ts';
import { HELLO } from './chat-bodies.ts';
import { askChat, postRaw } from './chat-client.ts';
import { startEngine, type StandInEngine } from './stand-in-engine.ts';
import { API_KEY, startTestService, type TestService } from './support.ts';

const keyRing = new KeyRing([Buffer.alloc(32, 7)]);
const server = useTestRedis();
const open: (() => Promise<unknown>)[] = [];
beforeEach(() => server.redis.flushall());
afterEach(async () => {
  for (const close of open.splice(0)) await close();
});

type Options = NonNullable<Parameters<typeof startTestService>[1]>;

async function start(options: Options): Promise<TestService> {
  const service = await startTestService(server.redis, { keyRing, ...options });
  open.push(() => service.close(0));
  return service;
}

/** An engine that never answers. */
async function startSilentEngine(): Promise<StandInEngine> {
  const engine = await startEngine(() => undefined);
  open.push(() => engine.stop());
  return engine;
}

const outcome = async (service: TestService) => {
  const { status, headers } = await postRaw(service, JSON.stringify(HELLO));
  return [status, headers['retry-after']];
};

describe('the limits of a key across two service processes', () => {
  test('count its requests within ten seconds together', async () => {
    const chatLimits = { requestsPer10Sec: 3, maxConcurrent: 10 };
    const [one, other] = [await start({ chatLimits }), await start({ chatLimits })];
    for (const service of [one, other, one]) expect((await askChat(service, HELLO)).status).toBe(200);
    const [status, retryAfter] = await outcome(other);
    expect([status, Number(retryAfter) >= 1 && Number(retryAfter) <= 10]).toEqual([429, true]);
  });

  test('count its open requests together, and free a slot when a request ends or is aborted', async () => {
    const engine = await startSilentEngine();
    const options = {
      chatLimits: { requestsPer10Sec: 1_000, maxConcurrent: 1 },
      upstream: { url: engine.url, models: {} },
    };
    const [one, other] = [await start(options), await start(options)];
    const leave = new AbortController();
    const headers = { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' };
    const asked = { method: 'POST', headers, body: JSON.stringify(HELLO), signal: leave.signal };
    const waiting = fetch(`${one.url}/v1/chat/completions`, asked).catch(() => undefined);
    while (engine.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(await outcome(other)).toEqual([429, '1']);
    leave.abort();
    await waiting;
    const free = JSON.stringify({ ...HELLO, model: 'none' });
    while ((await postRaw(other, free)).status === 429) await new Promise((resolve) => setTimeout(resolve, 5));
    expect((await postRaw(other, free)).status).toBe(404);
  });

  test('free the slots of a dead process after two minutes, and keep those of a live one', async () => {
    const engine = await startSilentEngine();
    const options = {
      chatLimits: { requestsPer10Sec: 1_000, maxConcurrent: 1 },
      upstream: { url: engine.url, models: {} },
    };
    const service = await start(options);
    const leave = new AbortController();
    const headers = { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' };
    const asked = { method: 'POST', headers, body: JSON.stringify(HELLO), signal: leave.signal };
    const waiting = fetch(`${service.url}/v1/chat/completions`, asked).catch(() => undefined);
    while (engine.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    const [key = ''] = await server.redis.keys('{chat:*}:open');
    const lifeMs = await server.redis.pttl(key);
    expect([lifeMs > 100_000, lifeMs <= 120_000]).toEqual([true, true]);
    // As if the process had died two minutes earlier.
    const [id = ''] = await server.redis.zrange(key, '0', '0');
    await server.redis.zadd(key, '1', id);
    const other = await start(options);
    expect((await postRaw(other, JSON.stringify({ ...HELLO, model: 'none' }))).status).toBe(404);
    leave.abort();
    await waiting;
  });
});

test('do not store the API key in Redis', async () => {
  const service = await start({});
  await askChat(service, HELLO);
  expect((await server.redis.keys('*')).join(' ')).not.toContain(API_KEY);
});

test('apply per process without Redis, and chat continues', async () => {
  const away = connectRedis({ urls: ['redis://127.0.0.1:9'] }, 'fail-fast', recordingLog().log, 'service');
  const service = await startTestService(away, { chatLimits: { requestsPer10Sec: 2, maxConcurrent: 10 } });
  open.push(
    () => service.close(0),
    async () => away.disconnect(),
  );
  const statuses = [];
  for (let count = 0; count < 3; count += 1) statuses.push((await askChat(service, HELLO)).status);
  expect(statuses).toEqual([200, 200, 429]);
});
