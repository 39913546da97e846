import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { got } from 'got';
import type { LocalControls, WorkerView } from '../../src/simulator/local-controls.ts';
import type { Messenger } from '../../src/simulator/start-messenger.ts';
import { watchScreen } from '../support/screen.ts';
import { startAtTest, until } from './messenger-at-test.ts';
import { startStandInBot, type StandInBot } from './stand-in-bot.ts';
import { useTestRedis } from '../support/use-test-redis.ts';

const redis = useTestRedis();
let bot: StandInBot;
let messenger: Messenger;
const VIEW: WorkerView = { killedProcessId: 4711, killedAtMs: 1 };
const seen: string[] = [];
let tell: (view: WorkerView) => void = () => undefined;
let isSoon = false;
const controls: LocalControls = {
  killWorker() {
    seen.push('kill');
    return isSoon ? undefined : VIEW;
  },
  onWorker(listener) {
    tell = listener;
    return () => void seen.push('told no more');
  },
  model: () => ({ kind: 'built-in' }),
  async useModel({ address }) {
    seen.push(address);
    return { code: 'key', detail: '401' };
  },
  async findEngines() {
    seen.push('engines');
    return { engines: [], ports: [{ port: 11434, engine: 'Ollama', isOurs: false }] };
  },
  async useBuiltInModel() {
    seen.push('built-in');
  },
};

beforeEach(async () => {
  bot = await startStandInBot();
  seen.splice(0);
  isSoon = false;
});
afterEach(async () => {
  await messenger.close();
  await bot.close();
});

const api = got.extend({ throwHttpErrors: false, retry: { limit: 0 }, responseType: 'json' });
const at = (path: string) => `${messenger.url}/api/${path}`;
const start = async (more: { controls?: LocalControls }) =>
  (messenger = await startAtTest({ redis: redis.redis, botUrl: bot.url, ...more }));

test('in local mode the page can kill the worker once per interval, and every open page is told the result', async () => {
  await start({ controls });
  expect((await api<{ isLocal: boolean }>(at('bootstrap'))).body.isLocal).toBe(true);
  const screens = await Promise.all(['lin', 'ada'].map((person) => watchScreen(messenger.url, person)));
  const killed = await api.post(at('local/worker/kill'));
  expect([killed.statusCode, killed.body]).toEqual([202, VIEW]);
  const told = { ...VIEW, next: { processId: 4712, afterMs: 800, takenOver: 1 } };
  await until(() => screens.every(({ events }) => events.length > 0));
  tell(told);
  await until(() => screens.every(({ events }) => events.some(({ name }) => name === 'worker')));
  isSoon = true;
  expect((await api.post(at('local/worker/kill'))).statusCode).toBe(429);
  for (const screen of screens) screen.close();
});

test('another site or another host name of this server can neither kill the worker nor try a model nor look for engines', async () => {
  await start({ controls });
  const json = { address: 'https://chat.example/v1', apiKey: '' };
  for (const headers of [
    { origin: 'https://evil.example' },
    { 'sec-fetch-site': 'cross-site' },
    { host: 'evil.example' },
  ] as Record<string, string>[]) {
    expect((await api.post(at('local/worker/kill'), { headers })).statusCode).toBe(403);
    expect((await api.post(at('local/model'), { headers, json })).statusCode).toBe(403);
    expect((await api.delete(at('local/model'), { headers })).statusCode).toBe(403);
    expect((await api.post(at('local/engines'), { headers })).statusCode).toBe(403);
  }
  expect(seen).toEqual([]);
  const refused = await api.post(at('local/model'), { json });
  expect([refused.statusCode, refused.body]).toEqual([422, { fault: { code: 'key', detail: '401' } }]);
  expect((await api.post(at('local/model'), { json: { address: 'x'.repeat(3_000), apiKey: '' } })).statusCode).toBe(
    400,
  );
  expect((await api.delete(at('local/model'))).body).toEqual({ kind: 'built-in' });
  seen.splice(0);
  // A page of another site can cause a GET without asking.
  expect((await api(at('local/engines'))).statusCode).toBe(404);
  expect(seen).toEqual([]);
  expect((await api.post(at('local/engines'))).body).toMatchObject({ engines: [] });
});

test('outside local mode these addresses do not exist', async () => {
  await start({});
  expect((await api<{ isLocal: boolean }>(at('bootstrap'))).body.isLocal).toBe(false);
  for (const path of ['local/worker/kill', 'local/model', 'local/engines'])
    expect((await api.post(at(path), { json: {} })).statusCode).toBe(404);
});
