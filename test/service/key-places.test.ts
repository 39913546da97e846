import { createServer, type ServerResponse } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from '@jest/globals';
import { request } from 'undici';
import { API_KEY, startTestService, type TestService, type TestServiceOptions } from './support.ts';
import { askChat, postRaw, streamChat } from './chat-client.ts';
import { HELLO, user } from './chat-bodies.ts';
import { useTestRedis } from '../support/use-test-redis.ts';

const server = useTestRedis();
const open: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of open.splice(0)) await close();
});

/** A service where a key has one slot, so that a slot which is not released is noticed immediately. */
async function start(overrides: TestServiceOptions = {}): Promise<TestService> {
  const chatLimits = { requestsPer10Sec: 1_000, maxConcurrent: 1 };
  const service = await startTestService(server.redis, { chatLimits, ...overrides });
  open.push(() => service.close());
  return service;
}

async function startEngine(answer: (response: ServerResponse) => void): Promise<TestServiceOptions> {
  const engine = createServer((message, response) => message.resume().on('end', () => answer(response)));
  await new Promise<void>((resolve) => engine.listen(0, '127.0.0.1', resolve));
  open.push(() => new Promise((resolve) => (engine.closeAllConnections(), engine.close(resolve))));
  return { upstream: { url: `http://127.0.0.1:${(engine.address() as AddressInfo).port}`, models: {} } };
}

const body = (more: object = {}) => JSON.stringify({ ...HELLO, ...more });
const head = (bodyBytes: number) =>
  `POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${API_KEY}\r\nContent-Type: application/json\r\nContent-Length: ${bodyBytes}\r\n\r\n`;

/** Writes bytes on a separate connection and cuts it after this many milliseconds. */
async function writeAndLeave(service: TestService, bytes: string, afterMs: number): Promise<void> {
  const socket = connect(service.port, '127.0.0.1');
  socket.on('error', () => undefined);
  await new Promise<void>((resolve) => socket.write(bytes, () => resolve()));
  await sleep(afterMs);
  socket.destroy();
}

/** Expects the slot to be free within about a second. */
async function expectFree(service: TestService): Promise<void> {
  for (let trial = 0; trial < 20; trial += 1) {
    const { status } = await postRaw(service, body({ model: 'none' }));
    if (status === 404) return;
    expect(status).toBe(429);
    await sleep(50);
  }
  throw new Error('the place was not given back');
}

describe('the slot of an API key is released [chat-limits]', () => {
  test.each([
    ['a complete reply', body()],
    ['a refused field', body({ temperature: 5 })],
    ['an unknown model', body({ model: 'x' })],
    ['a body that is not JSON', '{'],
    ['a body that is not UTF-8', Buffer.from([0x22, 0xff])],
    ['a body that is too large', Buffer.alloc(33 * 1_024 * 1_024, 'a')],
  ])('immediately after %s', async (_, bytes) => {
    const service = await start();
    for (let round = 0; round < 3; round += 1) expect((await postRaw(service, bytes)).status).not.toBe(429);
    expect((await askChat(service, HELLO)).status).toBe(200);
  });

  test('immediately after a streamed reply', async () => {
    const service = await start();
    for (let round = 0; round < 5; round += 1)
      expect((await streamChat(service, HELLO)).lines.at(-1)).toBe('data: [DONE]');
  });

  test.each<[what: string, answer: (response: ServerResponse) => void]>([
    ['refuses', (response) => response.writeHead(500).end()],
    ['breaks off before its answer', (response) => response.destroy()],
    ['sends invalid JSON', (response) => response.end('{')],
    [
      'breaks off during its answer',
      (response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write('data: {"choices":[{"index":0,"delta":{"content":"Hel"}}]}\n\n', () => response.destroy());
      },
    ],
  ])('immediately after an engine that %s, both complete and streamed', async (_, answer) => {
    const service = await start(await startEngine(answer));
    for (const stream of [false, true, false, true]) {
      const reply = await request(`${service.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
        body: body({ stream }),
      });
      expect(await reply.body.text()).toContain('"error"');
      expect(reply.statusCode).not.toBe(429);
    }
  });

  test('when the client disconnects in the head, in the body, before the first chunk, or in the stream', async () => {
    const service = await start({ builtInPace: { tokensPerSec: 100 } });
    const long = body({ stream: true, messages: [user('count to 5000')] });
    const whole = head(long.length) + long;
    for (const bytes of [whole.slice(0, 40), whole.slice(0, -10), whole]) {
      for (const afterMs of [0, 1, 2, 4, 8, 50]) {
        await writeAndLeave(service, bytes, afterMs);
        await expectFree(service);
      }
    }
  });

  test('when the client disconnects while the slot is requested from Redis', async () => {
    const service = await start();
    const asked = body();
    for (const bytes of [head(asked.length), head(asked.length) + asked]) {
      await server.redis.call('CLIENT', 'PAUSE', '300', 'ALL');
      await writeAndLeave(service, bytes, 100);
      await sleep(300);
      await expectFree(service);
    }
  });

  test('when the client disconnects from an engine that does not answer', async () => {
    const service = await start(await startEngine(() => undefined));
    for (const stream of [false, true]) {
      const asked = body({ stream });
      await writeAndLeave(service, head(asked.length) + asked, 50);
      await expectFree(service);
    }
  });

  test('when the client disconnects while its body is still being sent, and not earlier', async () => {
    const service = await start();
    const socket = connect(service.port, '127.0.0.1').on('error', () => undefined);
    socket.write(head(100));
    await sleep(100);
    expect((await askChat(service, HELLO)).status).toBe(429);
    socket.destroy();
    await expectFree(service);
  });
});

describe('Retry-After of a 429 response', () => {
  test('is the whole seconds until the oldest request is 10 s old, after which a slot is free', async () => {
    const service = await start({ chatLimits: { requestsPer10Sec: 2, maxConcurrent: 20 } });
    expect((await askChat(service, HELLO)).status).toBe(200);
    service.clock.ms += 2_500;
    expect((await askChat(service, HELLO)).status).toBe(200);
    for (const [laterMs, waitSec] of [
      [0, 8],
      [400, 8],
      [200, 7],
      [6_800, 1],
      [99, 1],
    ] as const) {
      service.clock.ms += laterMs;
      const { status, headers } = await askChat(service, HELLO);
      expect([status, headers['retry-after']]).toEqual([429, String(waitSec)]);
    }
    service.clock.ms += 1;
    expect((await askChat(service, HELLO)).status).toBe(200);
    // The request of the previous second is 7.5 s old at this point: the window slides.
    expect((await askChat(service, HELLO)).headers['retry-after']).toBe('3');
  });

  test('is 1 s for too many concurrent requests, and refused requests do not count', async () => {
    const service = await start({ builtInPace: { tokensPerSec: 50 } });
    const stream = streamChat(service, { ...HELLO, messages: [user('count to 20')] });
    await sleep(100);
    for (let round = 0; round < 50; round += 1) {
      const { status, headers } = await askChat(service, HELLO);
      if (status === 200) break;
      expect([status, headers['retry-after']]).toEqual([429, '1']);
    }
    await stream;
    expect((await askChat(service, HELLO)).status).toBe(200);
  });

  test('does not depend on the limits of another key', async () => {
    const service = await start({ chatLimits: { requestsPer10Sec: 1, maxConcurrent: 20 } });
    expect((await askChat(service, HELLO)).status).toBe(200);
    expect((await askChat(service, HELLO)).status).toBe(429);
    expect((await askChat(service, HELLO, 'sk-test-key-2')).status).toBe(200);
  });
});
