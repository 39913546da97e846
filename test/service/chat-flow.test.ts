import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { request } from 'undici';
import type { ServiceOptions } from '../../src/service/start-service.ts';
import { startTestRedis, type TestRedis } from '../support/redis.ts';
import { API_KEY, startTestService, type TestService } from './support.ts';
import { askChat, contentOf, streamChat } from './chat-client.ts';

const user = (content: unknown) => ({ role: 'user', content });
const HELLO = { model: 'svc-max', messages: [user('hello')] };

let server: TestRedis;
const open: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  server = await startTestRedis();
});
afterEach(async () => {
  for (const close of open.splice(0)) await close();
});
afterAll(() => server.stop());

async function start(overrides: Partial<ServiceOptions> = {}): Promise<TestService> {
  const service = await startTestService(server.redis, overrides);
  open.push(() => service.close());
  return service;
}

/** Opens a stream and leaves it standing. */
async function openStream(service: TestService, question: string, key = API_KEY) {
  const body = JSON.stringify({ model: 'svc-max', stream: true, messages: [user(question)] });
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` };
  return request(`${service.url}/v1/chat/completions`, { method: 'POST', headers, body });
}

describe('limits', () => {
  test('one key makes 200 requests in 10 s, 20 at once; the next is 429 with Retry-After until the window has passed', async () => {
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

  test('the 21st at once is 429, and a place is free again when a client leaves', async () => {
    const service = await start({ builtInPace: { tokensPerSec: 20 } });
    const streams = await Promise.all(Array.from({ length: 20 }, () => openStream(service, 'count to 5000')));
    expect(streams.map(({ statusCode }) => statusCode)).toEqual(Array(20).fill(200));
    expect((await askChat(service, HELLO)).status).toBe(429);
    streams[0]?.body.on('error', () => undefined).destroy();
    await sleep(100);
    expect((await askChat(service, HELLO)).status).toBe(200);
    for (const { body } of streams) body.on('error', () => undefined).destroy();
  });

  test('while it stops, open answers may end and new requests get 503', async () => {
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

describe('the built-in model in a stream', () => {
  test('it keeps its pace', async () => {
    const service = await start({ builtInPace: { tokensPerSec: 100 } });
    const startedAtMs = performance.now();
    await streamChat(service, { model: 'svc-max', messages: [user('count to 50')] });
    const tookMs = performance.now() - startedAtMs;
    expect(tookMs).toBeGreaterThan(400);
    expect(tookMs).toBeLessThan(1_500);
  });

  test('it knows what was asked before', async () => {
    const service = await start();
    const messages = [
      user('How do I connect WeCom?'),
      { role: 'assistant', content: '…' },
      user('What did I ask before?'),
    ];
    expect(contentOf(await askChat(service, { model: 'svc-max', messages }))).toContain('“How do I connect WeCom?”');
  });
});

describe('an upstream engine', () => {
  interface Engine {
    url: string;
    requests: { body: Record<string, unknown>; authorization: string | undefined }[];
    closed: Promise<void>;
  }

  async function startEngine(
    answer: (response: ServerResponse, body: Record<string, unknown>) => void,
  ): Promise<Engine> {
    const requests: Engine['requests'] = [];
    let onClosed: () => void = () => undefined;
    const closed = new Promise<void>((resolve) => (onClosed = resolve));
    const engine: Server = createServer((message: IncomingMessage, response: ServerResponse) => {
      const parts: Buffer[] = [];
      response.on('close', onClosed);
      message.on('data', (part: Buffer) => parts.push(part));
      message.on('end', () => {
        const body = JSON.parse(Buffer.concat(parts).toString()) as Record<string, unknown>;
        requests.push({ body, authorization: message.headers.authorization });
        answer(response, body);
      });
    });
    await new Promise<void>((resolve) => engine.listen(0, '127.0.0.1', resolve));
    open.push(() => new Promise((resolve) => (engine.closeAllConnections(), engine.close(resolve))));
    return { url: `http://127.0.0.1:${(engine.address() as AddressInfo).port}/v1`, requests, closed };
  }

  const withEngine = (url: string) =>
    start({ upstream: { url, key: 'sk-upstream-secret', models: { 'svc-max': 'qwen3:8b' } } });
  const chunk = (delta: object, finish: string | null = null) =>
    `data: ${JSON.stringify({ id: 'e1', object: 'chat.completion.chunk', created: 1, model: 'qwen3:8b', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
  const streamHead = { 'content-type': 'text/event-stream' };

  test('a whole reply passes through with the model mapped there and back', async () => {
    const engine = await startEngine((response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(
        JSON.stringify({
          id: 'e1',
          object: 'chat.completion',
          created: 1,
          model: 'qwen3:8b',
          choices: [
            { index: 0, message: { role: 'assistant', content: 'Hi', reasoning: 'hm' }, finish_reason: 'stop' },
          ],
          usage: { total_tokens: 3 },
        }),
      );
    });
    const service = await withEngine(engine.url);
    const { body } = await askChat(service, { ...HELLO, temperature: 0.2, web_search: true, user: 'secret-person' });
    expect(body).toEqual({
      id: 'e1',
      object: 'chat.completion',
      created: 1,
      model: 'svc-max',
      choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
      usage: { total_tokens: 3 },
    });
    expect(engine.requests).toEqual([
      {
        authorization: 'Bearer sk-upstream-secret',
        body: {
          model: 'qwen3:8b',
          messages: [{ role: 'user', content: 'hello' }],
          stream: false,
          temperature: 0.2,
          top_p: 0.95,
        },
      },
    ]);
  });

  test('a stream passes through; reasoning only while thinking, no finish_reason that is null', async () => {
    const engine = await startEngine((response) => {
      response.writeHead(200, streamHead);
      response.write(chunk({ role: 'assistant', reasoning: 'let me see' }) + chunk({ content: '你' }).slice(0, 40));
      setTimeout(
        () => response.end(chunk({ content: '你' }).slice(40) + chunk({ content: '好' }, 'stop') + 'data: [DONE]\n\n'),
        20,
      );
    });
    const service = await withEngine(engine.url);
    const { chunks, lines } = await streamChat(service, { ...HELLO, thinking: { type: 'enabled' } });
    expect(chunks.map(({ choices }) => choices[0])).toEqual([
      { index: 0, delta: { role: 'assistant', reasoning_content: 'let me see' } },
      { index: 0, delta: { content: '你' } },
      { index: 0, delta: { content: '好' }, finish_reason: 'stop' },
    ]);
    expect(lines.at(-1)).toBe('data: [DONE]');
    expect(chunks.every(({ model }) => model === 'svc-max')).toBe(true);
    expect(JSON.stringify((await streamChat(service, HELLO)).chunks)).not.toContain('let me see');
  });

  test.each([
    [400, 400, 'engine_refused'],
    [401, 503, 'unavailable'],
    [404, 503, 'unavailable'],
    [413, 413, 'request_too_large'],
    [429, 429, 'rate_limit_exceeded'],
    [500, 503, 'unavailable'],
  ])('status %d of the engine becomes %d %s, without its words', async (engineStatus, status, code) => {
    const engine = await startEngine((response) => {
      response.writeHead(engineStatus, { 'retry-after': '7' });
      response.end('{"error":{"message":"key sk-upstream-secret of ACME is bad"}}');
    });
    const service = await withEngine(engine.url);
    for (const stream of [false, true]) {
      const answer = await askChat(service, { ...HELLO, stream });
      expect([answer.status, (answer.body.error as { code: string }).code]).toEqual([status, code]);
      if (status === 429) expect(answer.headers['retry-after']).toBe('7');
      expect(JSON.stringify(answer.body) + service.logLines.join()).not.toMatch(/sk-upstream|ACME/);
    }
  });

  test('an engine that cannot be reached is 503', async () => {
    const service = await withEngine('http://127.0.0.1:9/v1');
    expect((await askChat(service, HELLO)).status).toBe(503);
  });

  test.each([
    ['breaks off', (response: ServerResponse) => response.destroy()],
    ['ends without a finish reason', (response: ServerResponse) => response.end()],
    ['sends nonsense', (response: ServerResponse) => response.end('data: {broken\n\n')],
    [
      'sends an error',
      (response: ServerResponse) => response.end('data: {"error":{"message":"sk-upstream-secret"}}\n\n'),
    ],
  ])('an engine that %s in the middle gives an error line and no [DONE]', async (_, finish) => {
    const engine = await startEngine((response) => {
      response.writeHead(200, streamHead);
      response.write(chunk({ content: 'Hel' }));
      setTimeout(() => finish(response), 20);
    });
    const { lines } = await streamChat(await withEngine(engine.url), HELLO);
    expect(lines).toHaveLength(2);
    expect(JSON.parse(lines[1]?.slice(6) ?? '')).toEqual({ error: expect.objectContaining({ code: 'unavailable' }) });
    expect(lines.join()).not.toContain('sk-upstream');
  });

  test('a client that does not read holds the engine back instead of filling the memory', async () => {
    let writtenBytes = 0;
    const line = chunk({ content: 'x'.repeat(10_000) });
    const engine = await startEngine((response) => {
      response.writeHead(200, streamHead);
      const write = () => {
        while (!response.destroyed) {
          writtenBytes += line.length;
          if (!response.write(line)) return void response.once('drain', write);
        }
      };
      write();
    });
    const { body } = await openStream(await withEngine(engine.url), 'hello');
    await sleep(500);
    const afterHalfSecondBytes = writtenBytes;
    await sleep(300);
    expect(writtenBytes).toBe(afterHalfSecondBytes);
    body.on('error', () => undefined).destroy();
    await engine.closed;
  });

  test('a client that leaves stops the engine', async () => {
    const engine = await startEngine((response) => {
      response.writeHead(200, streamHead);
      response.write(chunk({ content: 'Hel' }));
    });
    const service = await withEngine(engine.url);
    const { body } = await openStream(service, 'hello');
    await body[Symbol.asyncIterator]().next();
    body.on('error', () => undefined).destroy();
    await engine.closed;
    expect(engine.requests).toHaveLength(1);
  });
});
