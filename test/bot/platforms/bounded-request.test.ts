import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { requestBounded } from '../../../src/bot/platforms/bounded-request.ts';

let server: Server;
let answer: RequestListener;
let asked: { method: string | undefined; body: string; type: string | undefined }[] = [];

beforeAll(async () => {
  server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const body = Buffer.concat(parts).toString();
      asked.push({ method: request.method, body, type: request.headers['content-type'] });
      answer(request, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
beforeEach(() => {
  asked = [];
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const url = (path = '/a?token=secret') => new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`);
const post = { method: 'POST', json: { text: 'né' } } as const;

test('sends JSON and returns status, body and headers of the response', async () => {
  answer = (_request, response) =>
    response.writeHead(429, { 'retry-after': '7', 'content-type': 'text/plain' }).end('né');
  expect(await requestBounded(url(), post)).toEqual({
    status: 429,
    body: Buffer.from('né'),
    contentType: 'text/plain',
    retryAfter: '7',
    headers: expect.objectContaining({ 'retry-after': '7', 'content-type': 'text/plain' }),
  });
  expect(asked).toEqual([{ method: 'POST', body: '{"text":"né"}', type: 'application/json' }]);
});

test('returns a redirect as a response without following it', async () => {
  answer = (_request, response) => response.writeHead(302, { location: '/elsewhere' }).end();
  expect((await requestBounded(url(), { method: 'GET' })).status).toBe(302);
  expect(asked).toHaveLength(1);
});

test('rejects a body larger than maxBytes and returns one of exactly maxBytes', async () => {
  answer = (_request, response) => response.end('x'.repeat(1_000));
  expect((await requestBounded(url(), { method: 'GET', maxBytes: 1_000 })).body).toHaveLength(1_000);
  const tooLarge = requestBounded(url(), { method: 'GET', maxBytes: 999 });
  await expect(tooLarge).rejects.toMatchObject({ code: 'media_too_large' });
});

test.each([
  ['sends no response', () => undefined],
  ['stops mid-response', (_request, response) => response.writeHead(200, { 'content-length': '9' }).write('x')],
] as [string, RequestListener][])('times out without a retry when the service %s', async (_what, silent) => {
  answer = silent;
  const startedMs = performance.now();
  await expect(requestBounded(url(), { ...post, timeoutMs: 200 })).rejects.toMatchObject({ code: 'unreachable' });
  expect(performance.now() - startedMs).toBeLessThan(5_000);
  expect(asked).toHaveLength(1);
});

test.each([
  ['before the response', (request) => request.socket.destroy()],
  [
    'during the response',
    (request, response) => {
      response.writeHead(200, { 'content-length': '9' }).write('x');
      setTimeout(() => request.socket.destroy(), 20);
    },
  ],
] as [string, RequestListener][])(
  'reports a connection closed %s as unreachable, without query or body in the error, and does not retry',
  async (_when, cut) => {
    answer = cut;
    const failure: unknown = await requestBounded(url(), post).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'unreachable' });
    expect(String((failure as Error).stack)).not.toMatch(/secret|né/);
    expect(asked).toHaveLength(1);
  },
);

test('reports unsent when no connection is made under leavesWithinMs, and unreachable once the request may have left', async () => {
  const closed = createServer();
  await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve));
  const nowhere = new URL(`http://127.0.0.1:${(closed.address() as AddressInfo).port}/`);
  await new Promise((resolve) => closed.close(resolve));
  const fenced = { ...post, leavesWithinMs: 1_000 };
  await expect(requestBounded(nowhere, fenced)).rejects.toMatchObject({ code: 'unsent' });
  await expect(requestBounded(nowhere, post)).rejects.toMatchObject({ code: 'unreachable' });
  answer = (request) => request.socket.destroy();
  await expect(requestBounded(url(), fenced)).rejects.toMatchObject({ code: 'unreachable' });
  expect(asked).toHaveLength(1);
});

test('rejects with the reason of the caller’s signal when it aborts before or during the request', async () => {
  const reason = new Error('not wanted any more');
  const ending = new AbortController();
  answer = () => ending.abort(reason);
  await expect(requestBounded(url(), { ...post, signal: ending.signal })).rejects.toBe(reason);
  await expect(requestBounded(url(), { ...post, signal: ending.signal })).rejects.toBe(reason);
  expect(asked).toHaveLength(1);
});
