import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import { createModelCatalog } from '../../src/shared/models/model-catalog.ts';
import { useTestRedis } from '../support/use-test-redis.ts';
import { shippedModels } from '../support/shipped-models.ts';
import { engineReply } from './stand-in-engine.ts';
import { HELLO } from './upstream-support.ts';
import { API_KEY, startTestService, type TestService } from './support.ts';

interface Passed {
  path: string;
  headers: IncomingMessage['headers'];
  body: Buffer;
}

const server = useTestRedis();
const open: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0)) await close();
});

/** A service in front of an engine that answers as scripted by the test, with `maxConcurrent` slots for its key. */
async function start(answer: (response: ServerResponse) => void, maxConcurrent = 10) {
  const seen: Passed[] = [];
  const engine = createServer((message, response) => {
    const parts: Buffer[] = [];
    message.on('data', (part: Buffer) => parts.push(part));
    message.on('end', () => {
      seen.push({ path: message.url ?? '', headers: message.headers, body: Buffer.concat(parts) });
      answer(response);
    });
  });
  await new Promise<void>((resolve) => engine.listen(0, '127.0.0.1', resolve));
  const service = await startTestService(server.redis, {
    models: createModelCatalog(
      shippedModels().entries.map((entry) => ({ ...entry, headers: { 'x-tenant': 'physics' } })),
    ),
    chatLimits: { requestsPer10Sec: 1_000, maxConcurrent },
    upstream: {
      url: `http://127.0.0.1:${(engine.address() as AddressInfo).port}/api/v1/`,
      key: 'sk-upstream-secret',
      models: {},
    },
  });
  open.push(
    () => service.close(),
    () => new Promise((resolve) => (engine.closeAllConnections(), engine.close(resolve))),
  );
  return { service, seen };
}

function post(service: TestService, path: string, body: Buffer | string, headers: Record<string, string> = {}) {
  const given = { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json', ...headers };
  return fetch(`${service.url}/v1/${path}`, { method: 'POST', headers: given, body });
}

const json = (value: unknown) => (response: ServerResponse) =>
  void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));

describe('endpoints that only an engine provides', () => {
  test.each([
    ...['embeddings', 'rerank', 'images/generations', 'images/edits', 'images/variations'],
    ...['audio/speech', 'audio/transcriptions', 'audio/translations'],
  ])("pass %s through byte for byte with the engine's key, and return its answer", async (path) => {
    const { service, seen } = await start(json({ data: [1] }));
    const body = Buffer.from([0, 255, 10, 13, 128]);
    const type = 'multipart/form-data; boundary=x';
    const answer = await post(service, path, body, { 'content-type': type });
    expect([answer.status, await answer.json()]).toEqual([200, { data: [1] }]);
    expect(seen).toMatchObject([{ path: `/api/v1/${path}`, headers: { 'content-type': type }, body }]);
    expect(seen[0]?.headers.authorization).toBe('Bearer sk-upstream-secret');
    expect(JSON.stringify(seen[0]?.headers)).not.toContain(API_KEY);
  });

  test("carry the headers of the engine's models instead of the caller's, like questions", async () => {
    const { service, seen } = await start(json(engineReply({ content: 'Hi' })));
    for (const path of ['chat/completions', 'embeddings'])
      expect((await post(service, path, JSON.stringify(HELLO), { 'x-tenant': 'caller' })).status).toBe(200);
    expect(seen.map(({ headers }) => headers['x-tenant'])).toEqual(['physics', 'physics']);
  });

  test('stream speech as it is produced', async () => {
    let more: ServerResponse | undefined;
    const { service } = await start((response) => {
      more = response.writeHead(200, { 'content-type': 'audio/mpeg' });
      more.write('first');
    });
    const answer = await post(service, 'audio/speech', '{}');
    const reader = answer.body?.getReader();
    expect(Buffer.from((await reader?.read())?.value as Uint8Array).toString()).toBe('first');
    more?.end('second');
    expect(Buffer.from((await reader?.read())?.value as Uint8Array).toString()).toBe('second');
    expect(answer.headers.get('content-type')).toBe('audio/mpeg');
  });

  test.each([
    [400, 400, 'engine_refused'],
    [404, 404, 'unknown_address'],
    [413, 413, 'request_too_large'],
    [429, 429, 'rate_limit_exceeded'],
    [401, 503, 'unavailable'],
    [500, 503, 'unavailable'],
  ])("report an engine's refusal of %s as %s %s, without the engine's text", async (status, told, code) => {
    const { service } = await start((response) => void response.writeHead(status).end('owner@engine.example'));
    const answer = await post(service, 'embeddings', '{}');
    const text = await answer.text();
    expect([answer.status, (JSON.parse(text) as { error: { code: string } }).error.code]).toEqual([told, code]);
    expect(text).not.toContain('engine.example');
  });

  test('require a key and count for its limits', async () => {
    const { service, seen } = await start(() => undefined, 1);
    const stranger = await post(service, 'embeddings', '{}', { authorization: 'Bearer sk-nope' });
    expect([stranger.status, seen]).toEqual([401, []]);
    const leave = new AbortController();
    const headers = { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' };
    const asked = { method: 'POST', headers, body: '{}', signal: leave.signal };
    const waiting = fetch(`${service.url}/v1/embeddings`, asked).catch(() => undefined);
    while (seen.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    expect((await post(service, 'embeddings', '{}')).status).toBe(429);
    leave.abort();
    await waiting;
    // A client that disconnects frees its slot.
    const free = JSON.stringify({ model: 'none', messages: [{ role: 'user', content: 'x' }] });
    const tryPlace = async () => (await post(service, 'chat/completions', free)).status;
    while ((await tryPlace()) === 429) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(await tryPlace()).toBe(404);
  });
});

test('return 404 without an engine, and name the setting', async () => {
  const service = await startTestService(server.redis);
  open.push(() => service.close());
  const answer = await post(service, 'embeddings', '{}');
  expect([answer.status, await answer.json()]).toMatchObject([
    404,
    { error: { message: expect.stringContaining('SERVICE_UPSTREAM_URL') } },
  ]);
});
