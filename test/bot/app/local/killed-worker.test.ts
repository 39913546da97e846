import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { got } from 'got';
import type { MessageView } from '../../../../src/simulator/api.ts';
import type { EngineSearch, WorkerView } from '../../../../src/simulator/local-controls.ts';
import { freePort } from '../../../../src/bot/app/local/embedded-redis.ts';
import {
  chunk,
  jsonOf,
  sse,
  startScriptedChatServer,
  statusOf,
  streamOf,
  type ScriptedChatServer,
} from '../../model/scripted-chat-server.ts';
import { startParleyProcess, type ParleyProcess } from '../../../support/parley-process.ts';
import { openPrintedPage, type PrintedPage } from '../../../support/printed-page.ts';
import { watchScreen, type Screen } from '../../../support/screen.ts';
import { untilTrue } from '../../../support/deployment.ts';

jest.setTimeout(60_000);
const UP = /Parley (is running|has started)/;
const PERSON = 'zhangwei';
const KEY = 'sk-of-my-own-0123456789';
const folder = mkdtempSync(join(tmpdir(), 'parley-killed-'));
let env: Record<string, string>;
let url: string;
let parley: ParleyProcess;
let screen: Screen;
let page: PrintedPage;
/** A chat engine on a port where the page looks for one. */
let engine: ScriptedChatServer;

/** Starts `npm start` in local mode with sign-in off. */
beforeAll(async () => {
  const [PORT, SERVICE_PORT, MESSENGER_PORT] = [await freePort(), await freePort(), await freePort()].map(String);
  env = { PORT: PORT ?? '', SERVICE_PORT: SERVICE_PORT ?? '', MESSENGER_PORT: MESSENGER_PORT ?? '' };
  env = { ...env, DATA_DIR: folder, SIGN_IN: 'off', LOG_FORMAT: 'json', LOG_LEVEL: 'info', ENV_FILE: '/dev/null' };
  url = `http://127.0.0.1:${MESSENGER_PORT}`;
  engine = await startScriptedChatServer();
  env['LOCAL_ENGINE_PORTS'] = `${new URL(engine.baseUrl).port},${PORT}`;
  await start();
});
afterAll(async () => {
  screen.close();
  parley.kill('SIGKILL');
  await parley.ended;
  await engine.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function start(): Promise<void> {
  parley = await startParleyProcess({ env, until: UP, ownGroup: true });
  page = await openPrintedPage(parley.output());
  screen = await watchScreen(url, PERSON, page.headers);
}

const api = got.extend({
  ...{ throwHttpErrors: false, retry: { limit: 0 }, responseType: 'json' },
  hooks: { beforeRequest: [(options) => void Object.assign(options.headers, page.headers)] },
});
const say = (text: string) =>
  api.post<MessageView>(`${url}/api/conversations/${encodeURIComponent(chatId)}/messages`, {
    json: { person: PERSON, text },
  });
const kill = (headers = {}) => api.post<WorkerView>(`${url}/api/local/worker/kill`, { headers });
let chatId = '';

/** All snapshots of bot messages since an event; the last one is the newest. */
function answersFrom(event: number): MessageView[] {
  return screen.events
    .slice(event)
    .flatMap(({ name, data }) => (name === 'message' && data.sender === 'bot' ? [data] : []));
}

async function ask(text: string): Promise<number> {
  const from = screen.events.length;
  expect((await say(text)).statusCode).toBe(202);
  return from;
}

/** Waits until the answer that began after `from` is final. @returns its snapshots */
async function wholeAnswer(from: number): Promise<MessageView[]> {
  await untilTrue(() => answersFrom(from).at(-1)?.state === 'final', 40_000);
  return answersFrom(from);
}

function isAlive(processId: number): boolean {
  try {
    return process.kill(processId, 0);
  } catch {
    return false;
  }
}

test('kills the worker with SIGKILL during an answer, and a new worker continues in the same message', async () => {
  const conversations = await api<{ id: string; kind: string }[]>(`${url}/api/people/${PERSON}/conversations`);
  chatId = conversations.body.find(({ kind }) => kind === 'private')?.id ?? '';
  const from = await ask('count to 120');
  await untilTrue(() => /\b9\b/.test(answersFrom(from).at(-1)?.text ?? ''));
  expect((await kill({ origin: 'http://evil.example' })).statusCode).toBe(403);
  const killed = await kill();
  expect(killed.statusCode).toBe(202);
  expect(killed.body.killedProcessId).not.toBe(parley.pid);
  // A second kill right away is rate-limited, so that it cannot keep the bot from answering.
  expect((await kill()).statusCode).toBe(429);
  const snapshots = await wholeAnswer(from);
  expect(isAlive(killed.body.killedProcessId)).toBe(false);
  const told = screen.events.flatMap(({ name, data }) => (name === 'worker' ? [data] : []));
  expect(told).toEqual([{ ...killed.body, next: expect.objectContaining({ takenOver: 1 }) }]);
  expect(isAlive(told[0]?.next?.processId ?? 0)).toBe(true);
  expect(new Set(snapshots.map(({ id }) => id)).size).toBe(1);
  // Text that was shown is never removed.
  for (const [index, { text }] of snapshots.entries())
    expect(text.startsWith(snapshots[index - 1]?.text ?? '')).toBe(true);
  const numbers = Array.from({ length: 120 }, (_, index) => String(index + 1));
  expect(snapshots.at(-1)?.text.trim().split(/\s+/)).toEqual(numbers);
  expect(parley.output()).toContain('"signal":"SIGKILL"');
  expect(parley.output()).toContain('another worker process took over');
});

test('readiness and metrics cover both processes', async () => {
  const bot = `http://127.0.0.1:${env['PORT']}`;
  await untilTrue(async () => (await api(`${bot}/readyz`)).statusCode === 200);
  expect((await api<{ parts: object }>(`${bot}/readyz`)).body.parts).toMatchObject({ redis: 'ready', worker: 'ready' });
  const from = await ask('count to 3');
  await wholeAnswer(from);
  const metrics = await got(`${bot}/metrics`).text();
  // The receiver counts the first metric, the worker the second.
  expect(metrics).toMatch(/^parley_deliveries_total\S* [1-9]/m);
  expect(metrics).toMatch(/^parley_chat_first_event_seconds_count\S* [1-9]/m);
});

test('a custom model is tried before it is used, then answers, and its key is stored for its owner only', async () => {
  const server = await startScriptedChatServer();
  try {
    const use = (apiKey: string) => api.post(`${url}/api/local/model`, { json: { address: server.baseUrl, apiKey } });
    server.script(statusOf(401));
    const refused = await use(KEY);
    expect([refused.statusCode, refused.body]).toEqual([422, { fault: { code: 'key', detail: '401' } }]);
    expect(readdirSync(folder)).not.toContain('own-model.json');
    const words = streamOf(chunk({ content: 'I am your own model.' }, 'stop'), sse('[DONE]'));
    server.script(jsonOf({ choices: [{ message: { content: 'OK' } }] }), words);
    const used = await use(KEY);
    const view = { kind: 'own', host: new URL(server.baseUrl).host, model: 'svc-plus' };
    expect([used.statusCode, used.body]).toEqual([200, view]);
    expect((await api(`${url}/api/local/model`)).body).toEqual(view);
    expect(statSync(join(folder, 'own-model.json')).mode & 0o777).toBe(0o600);
    expect((await wholeAnswer(await ask('who are you?'))).at(-1)?.text).toBe('I am your own model.');
    expect(server.calls.at(-1)?.authorization).toBe(`Bearer ${KEY}`);
    expect((await api.delete(`${url}/api/local/model`)).body).toEqual({ kind: 'built-in' });
    expect(existsSync(join(folder, 'own-model.json'))).toBe(false);
    expect((await wholeAnswer(await ask('count to 2'))).at(-1)?.text).toBe('1 2');
    expect(parley.output()).not.toContain(KEY);
  } finally {
    await server.stop();
  }
});

test('an engine on this computer is found, is used without a key and with all its models, and may disappear', async () => {
  const words = streamOf(chunk({ content: 'I am the engine.' }, 'stop'), sse('[DONE]'));
  const { engines, ports } = (await api.post<EngineSearch>(`${url}/api/local/engines`)).body;
  expect(engines).toEqual([{ address: engine.baseUrl, models: ['svc-plus', 'svc-max'] }]);
  expect(ports.map(({ isOurs }) => isOurs)).toEqual([false, true]);
  // The search asks the engine too.
  engine.script(jsonOf({ choices: [{ message: { content: 'OK' } }] }), words);
  const json = { address: engines[0]?.address, apiKey: '' };
  expect((await api.post(`${url}/api/local/model`, { json })).statusCode).toBe(200);
  expect((await wholeAnswer(await ask('who are you?'))).at(-1)?.text).toBe('I am the engine.');
  expect((await wholeAnswer(await ask('/model'))).at(-1)?.text).toContain('svc-max');
  await engine.stop();
  const gone = await api.post(`${url}/api/local/model`, { json });
  expect([gone.statusCode, gone.body]).toEqual([422, { fault: { code: 'unreachable', detail: 'ECONNREFUSED' } }]);
  expect((await api.post<EngineSearch>(`${url}/api/local/engines`)).body.engines).toEqual([]);
  expect((await api.delete(`${url}/api/local/model`)).body).toEqual({ kind: 'built-in' });
});

test('Ctrl+C reports the pending answer, reaches the worker once, and ends in order after the page shows the whole answer', async () => {
  const from = await ask('count to 40');
  await untilTrue(() => /\b2\b/.test(answersFrom(from).at(-1)?.text ?? ''));
  const worker = workerOf(parley);
  parley.killGroup('SIGINT');
  expect(await parley.ended).toBe(0);
  const told = screen.events.slice(from).flatMap(({ name, data }) => {
    if (name === 'stop') return [data.isOver ? 'over' : 'ending'];
    return name === 'message' && data.state === 'final' ? [data.text.slice(-8)] : [];
  });
  expect(told).toEqual(['ending', '38 39 40', 'over']);
  screen.close();
  expect(parley.output()).toMatch(/The running answer is being finished, for at most 25 seconds\. Press Ctrl\+C again/);
  expect(isAlive(worker)).toBe(false);
  expect(parley.output().split('shutting down')[1]).not.toContain('ended by itself');
  await start();
  const path = `${url}/api/conversations/${encodeURIComponent(chatId)}/messages`;
  const newest = async () => (await api<MessageView[]>(path, { searchParams: { person: PERSON } })).body.at(-1);
  expect((await newest())?.text).toMatch(/38 39 40$/);
});

/** Headers that another user of the machine can send. */
const OTHERS: Record<string, string>[] = [
  {},
  { cookie: 'parley-messenger=x' },
  { authorization: 'Bearer x', 'x-forwarded-for': '127.0.0.1' },
];

test.each([
  ['GET', '/'],
  ['GET', '/?token=x'],
  ['GET', '/index.html'],
  ['GET', '/api/bootstrap'],
  ['GET', `/api/people/${PERSON}/conversations`],
  ['GET', `/api/people/${PERSON}/events`],
  ['POST', `/api/conversations/x/messages`],
  ['POST', '/api/images'],
  ['POST', '/api/frames'],
  ['GET', '/api/local/model'],
  ['POST', '/api/local/model'],
  ['DELETE', '/api/local/model'],
  ['POST', '/api/local/engines'],
  ['POST', '/api/local/worker/kill'],
])('%s %s answers 403 to a browser without the owner’s cookie [local-owner]', async (method, path) => {
  for (const headers of OTHERS) {
    const answer = await fetch(`${url}${path}`, { method, headers, redirect: 'manual' });
    expect([answer.status, answer.headers.get('set-cookie')]).toEqual([403, null]);
    expect(await answer.text()).not.toContain(page.headers.cookie.split('=')[1]);
  }
});

test('the printed address sets a strict owner cookie that stays valid after a restart [local-owner]', async () => {
  const before = page.headers.cookie;
  const opened = await fetch(page.address, { redirect: 'manual' });
  expect([opened.status, opened.headers.get('location')]).toEqual([302, '/']);
  expect(opened.headers.get('set-cookie')).toMatch(/; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Strict$/);
  expect((await fetch(url, { headers: page.headers })).status).toBe(200);
  screen.close();
  parley.kill('SIGTERM');
  await parley.ended;
  await start();
  expect(page.headers.cookie).toBe(before);
  expect((await fetch(`${url}/api/bootstrap`, { headers: { cookie: before } })).status).toBe(200);
});

test('a window of the in-app browser requires the owner’s cookie [local-owner]', async () => {
  const json = { person: PERSON, url: `http://127.0.0.1:${env['PORT']}/healthz` };
  const { frameUrl } = (await api.post<{ frameUrl: string }>(`${url}/api/frames`, { json })).body;
  expect((await fetch(frameUrl)).status).toBe(403);
  expect((await fetch(frameUrl, { headers: page.headers })).status).toBe(200);
});

test('the worker ends when the process that started it is killed', async () => {
  const worker = workerOf(parley);
  expect(isAlive(worker)).toBe(true);
  screen.close();
  parley.kill('SIGKILL');
  await parley.ended;
  await untilTrue(() => !isAlive(worker));
});

/** Process id of the worker of a running Parley. */
function workerOf({ pid }: ParleyProcess): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number);
  const isWorker = (id: number) => readFileSync(`/proc/${id}/cmdline`, 'utf8').includes('local-worker');
  return children.find(isWorker) ?? 0;
}
