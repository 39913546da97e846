import { afterEach, expect, test } from '@jest/globals';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { findEngines } from '../../../../src/bot/app/find-engines.ts';
import { loadSound } from '../../config/environments.ts';

const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

/** A program on a free port of this computer. @returns its port, and the paths and headers that it received */
async function startEngine(answer: RequestListener) {
  const seen: { path: string; authorization: string | undefined }[] = [];
  const server = createServer((request, response) => {
    seen.push({ path: request.url ?? '', authorization: request.headers.authorization });
    answer(request, response);
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { port: (server.address() as AddressInfo).port, seen };
}

/** Answers as the engines do; other paths are unknown. */
const answering =
  (bodies: Readonly<Record<string, unknown>>): RequestListener =>
  ({ url = '' }, response) =>
    response.writeHead(url in bodies ? 200 : 404).end(JSON.stringify(bodies[url] ?? { error: 'not found' }));
const listing = (owner: string | undefined, ...ids: string[]) =>
  answering({ '/v1/models': { object: 'list', data: ids.map((id) => ({ id, object: 'model', owned_by: owner })) } });
const search = (ports: readonly number[], env: Record<string, string> = {}) =>
  findEngines(loadSound({ ...env, LOCAL_ENGINE_PORTS: ports.join() }).config);

test.each([
  ['Ollama', listing('library', 'qwen3:8b'), ['qwen3:8b']],
  [
    'Ollama',
    answering({
      '/v1/models': { object: 'list', data: [{ id: 'me/own:1b', owned_by: 'me' }] },
      '/api/tags': { models: [] },
    }),
    ['me/own:1b'],
  ],
  ['Ollama', answering({ '/v1/models': { object: 'list', data: null }, '/api/tags': { models: [] } }), []],
  ['LM Studio', listing('organization_owner', 'qwen3-8b', 'text-embedding-nomic'), ['qwen3-8b']],
  ['llama.cpp', listing('llamacpp', 'model.gguf'), ['model.gguf']],
  ['vLLM', listing('vllm', 'Qwen/Qwen3-8B'), ['Qwen/Qwen3-8B']],
  [undefined, listing('constructor', 'some-model'), ['some-model']],
])('recognizes an engine by its own answer: %s', async (name, answer, models) => {
  const { port, seen } = await startEngine(answer);
  const { engines } = await search([port]);
  expect(engines).toEqual([{ name, address: `http://127.0.0.1:${port}/v1`, models }]);
  expect(seen.every(({ authorization }) => authorization === undefined)).toBe(true);
});

test('looks at the usual ports by default, does not ask the ports of this Parley, and says so', async () => {
  const { config } = loadSound({});
  expect(config.local.enginePorts).toEqual([11434, 1234, 8080, 8000]);
  const { port, seen } = await startEngine(listing('llamacpp', 'model.gguf'));
  const found = await search([port, 8080], { PORT: String(port) });
  expect(found.ports).toEqual([
    { port, engine: undefined, isOurs: true },
    { port: 8080, engine: 'llama.cpp', isOurs: false },
  ]);
  expect(seen).toEqual([]);
});

const ENDLESS = 'x'.repeat(64 * 1_024);

/** A program that another user of the computer may run on such a port. */
const HOSTILE: [what: string, answer: RequestListener][] = [
  ['requires a key', (_request, response) => response.writeHead(401).end('{}')],
  ['is not an engine', (_request, response) => response.writeHead(200).end('<!doctype html><title>Shop</title>')],
  ['lists no objects', answering({ '/v1/models': [1, 2] })],
  [
    'sends an endless answer',
    (_request, response) => {
      const write = () => {
        while (response.write(ENDLESS));
      };
      response.writeHead(200).on('drain', write);
      write();
    },
  ],
  ['never answers', () => undefined],
  [
    'answers one byte at a time',
    (_request, response) => {
      const drip = setInterval(() => response.write(' '), 100);
      response.on('close', () => clearInterval(drip));
    },
  ],
  [
    'closes the connection within its answer',
    (_request, response) => {
      response.writeHead(200, { 'content-length': '100' }).write('{"data":[');
      setTimeout(() => response.destroy(), 20);
    },
  ],
];

test('does not list a program that is no engine, and ends within seconds whatever it answers', async () => {
  const { port: target, seen } = await startEngine(listing('vllm', 'elsewhere'));
  const redirect: RequestListener = (_request, response) =>
    response.writeHead(302, { location: `http://127.0.0.1:${target}/v1/models` }).end();
  const programs = await Promise.all([...HOSTILE.map(([, answer]) => answer), redirect].map(startEngine));
  const { port } = await startEngine(listing('vllm', 'real-model'));
  const startedAtMs = performance.now();
  const { engines } = await search([...programs.map((program) => program.port), port]);
  expect(engines.map(({ models }) => models)).toEqual([['real-model']]);
  expect(performance.now() - startedAtMs).toBeLessThan(20_000);
  expect(seen).toEqual([]);
});

test('returns only names that the bot can use, at most 100 of them', async () => {
  const names = ['ok-model', '<img src=x onerror=alert(1)>', 'a b', '‮evil', 'x'.repeat(201), 'ok-model'];
  const { port } = await startEngine(listing('<b>', ...names, ...Array.from({ length: 500 }, (_, n) => `m${n}`)));
  const [engine] = (await search([port])).engines;
  expect(engine?.name).toBeUndefined();
  expect(engine?.models.slice(0, 2)).toEqual(['ok-model', 'm0']);
  expect(engine?.models).toHaveLength(100);
});
