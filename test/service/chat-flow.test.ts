import { afterEach, describe, expect, test } from '@jest/globals';
import { request } from 'undici';
import { API_KEY, startTestService, type TestService, type TestServiceOptions } from './support.ts';
import { askChat, contentOf, streamChat } from './chat-client.ts';
import { untilTrue } from '../support/deployment.ts';
import { useTestRedis } from '../support/use-test-redis.ts';

const user = (content: unknown) => ({ role: 'user', content });
const HELLO = { model: 'svc-max', messages: [user('hello')] };

const server = useTestRedis();
const open: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of open.splice(0)) await close();
});

async function start(overrides: TestServiceOptions = {}): Promise<TestService> {
  const service = await startTestService(server.redis, overrides);
  open.push(() => service.close());
  return service;
}

/** Opens a stream without reading it. */
async function openStream(service: TestService, question: string, key = API_KEY) {
  const body = JSON.stringify({ model: 'svc-max', stream: true, messages: [user(question)] });
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` };
  return request(`${service.url}/v1/chat/completions`, { method: 'POST', headers, body });
}

describe('the limits of an API key', () => {
  test('allow 200 requests in 10 s, 20 of them concurrent; the next one gets 429 with Retry-After until the window has passed', async () => {
    const service = await start();
    for (let round = 0; round < 10; round += 1) {
      const answers = await Promise.all(Array.from({ length: 20 }, () => askChat(service, HELLO)));
      expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200));
    }
    service.clock.ms += 4_000;
    const refused = await askChat(service, HELLO);
    expect([refused.status, refused.headers['retry-after'], (refused.body.error as { type: string }).type]).toEqual([
      429,
      '6',
      'rate_limit_error',
    ]);
    expect((await askChat(service, HELLO, 'sk-test-key-2')).status).toBe(200);
    service.clock.ms += 6_000;
    expect((await askChat(service, HELLO)).status).toBe(200);
  });

  test('refuse a 21st concurrent request with 429, and free a slot when a client disconnects', async () => {
    const service = await start({ builtInPace: { tokensPerSec: 20 } });
    const streams = await Promise.all(Array.from({ length: 20 }, () => openStream(service, 'count to 5000')));
    expect(streams.map(({ statusCode }) => statusCode)).toEqual(Array(20).fill(200));
    expect((await askChat(service, HELLO)).status).toBe(429);
    streams[0]?.body.on('error', () => undefined).destroy();
    await untilTrue(async () => (await askChat(service, HELLO)).status === 200);
    for (const { body } of streams) body.on('error', () => undefined).destroy();
  });

  test('a stopping service reports not ready and lets open answers end', async () => {
    const service = await startTestService(server.redis, { builtInPace: { tokensPerSec: 100 } });
    const { body } = await openStream(service, 'count to 30');
    const keepAlive = await openStream(service, 'count to 20');
    await keepAlive.body.dump();
    const closed = service.close(5_000);
    expect(await service.isReady()).toBe(false);
    expect((await body.text()).trimEnd()).toMatch(/data: \[DONE\]$/);
    await closed;
  });
});

describe('streams of the built-in model', () => {
  test('keep their pace', async () => {
    const service = await start({ builtInPace: { tokensPerSec: 100 } });
    const startedAtMs = performance.now();
    await streamChat(service, { model: 'svc-max', messages: [user('count to 50')] });
    const tookMs = performance.now() - startedAtMs;
    expect(tookMs).toBeGreaterThan(400);
  });

  test('use the earlier messages of the conversation', async () => {
    const service = await start();
    const messages = [
      user('How do I connect WeCom?'),
      { role: 'assistant', content: '…' },
      user('What did I ask before?'),
    ];
    expect(contentOf(await askChat(service, { model: 'svc-max', messages }))).toContain('“How do I connect WeCom?”');
  });
});
