import { afterAll, afterEach, beforeAll, expect, jest, test } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { got } from 'got';
import { connectRedis } from '../../src/shared/redis/redis.ts';
import { freePort, startEmbeddedRedis } from '../../src/bot/app/local/embedded-redis.ts';
import { startParleyProcess, type ParleyProcess } from '../support/parley-process.ts';
import { recordingLog } from '../support/redis.ts';
import { VERSION } from '../../src/shared/version.ts';
import { runAdmin } from '../support/run-admin.ts';
import { startDeployment, untilTrue, type Deployment } from '../support/deployment.ts';

const UP = /Parley (is running|has started)/;
/** A start takes seconds on a busy machine. */
jest.setTimeout(60_000);
let deployment: Deployment;
let running: ParleyProcess[] = [];

beforeAll(async () => {
  deployment = await startDeployment({ startsBot: false, tokensPerSec: 80, env: { SIGN_IN: 'off' } });
}, 60_000);
afterAll(() => deployment.stop());
afterEach(async () => {
  for (const parley of running) parley.kill('SIGKILL');
  await Promise.all(running.map(({ ended }) => ended));
  running = [];
});

const driver = () => deployment.messenger.driver;

async function start(env: Record<string, string> = {}): Promise<ParleyProcess> {
  const parley = await startParleyProcess({ env: { ...deployment.env, ...env }, until: UP });
  running.push(parley);
  await untilTrue(() => driver().isBotReachable());
  return parley;
}

async function isGrowing(messageId: string): Promise<boolean> {
  return /\d/.test((await driver().answer(messageId))?.text ?? '');
}

/** The numbers from 1 to `last`. A complete answer contains each once and in order. */
const numbersTo = (last: number) => Array.from({ length: last }, (_, index) => String(index + 1));

async function expectOneWholeAnswer(person: string, messageId: string, last: number): Promise<void> {
  const answer = await driver().waitForAnswer(messageId, { timeoutMs: 40_000 });
  expect(answer.text.trim().split(/\s+/)).toEqual(numbersTo(last));
  const since = (await driver().messages(person)).filter(
    ({ sender, id }) => sender === 'bot' && id.includes(messageId),
  );
  expect(since).toHaveLength(1);
}

test('admin workers lists each process until it ends, a worker with its answers and whether it stops', async () => {
  const receiver = await start({ ROLES: 'receiver' });
  const worker = await start({ ROLES: 'worker', PORT: String(await freePort()), WORKER_CONCURRENCY: '7' });
  await driver().send('zhangwei', 'count to 600');
  const rowOf = async ({ pid }: ParleyProcess) => {
    const { data } = await runAdmin(deployment.env, 'workers');
    return (data as { pid: number; instance: string; state: string; runningTurns: number }[]).find(
      (row) => row.pid === pid,
    );
  };
  await untilTrue(async () => (await rowOf(worker))?.runningTurns === 1);
  expect(await rowOf(worker)).toMatchObject({ roles: ['worker'], state: 'alive', maxTurns: 7 });
  const { instance = '', ...ofReceiver } = (await rowOf(receiver)) ?? {};
  expect(ofReceiver).toMatchObject({ roles: ['receiver'], state: 'alive', version: VERSION, host: hostname() });
  expect(receiver.output()).toContain(`"instance":"${instance}"`);
  worker.kill('SIGTERM');
  await untilTrue(async () => (await rowOf(worker))?.state === 'draining');
  await driver().send('zhangwei', '/stop');
  expect(await worker.ended).toBe(0);
  receiver.kill('SIGTERM');
  expect(await receiver.ended).toBe(0);
  expect(await Promise.all([rowOf(worker), rowOf(receiver)])).toEqual([undefined, undefined]);
}, 60_000);

test('SIGTERM during an answer lets it end, and the process exits with 0 [orderly-stop]', async () => {
  const parley = await start();
  const message = await driver().send('zhangwei', 'count to 60');
  await untilTrue(() => isGrowing(message.id));
  parley.kill('SIGTERM');
  expect(await parley.ended).toBe(0);
  await start();
  await expectOneWholeAnswer('zhangwei', message.id, 60);
}, 60_000);

test('an answer that exceeds the grace time is resumed by the next start [orderly-stop]', async () => {
  const parley = await start({ SHUTDOWN_GRACE_SEC: '5' });
  const message = await driver().send('zhangwei', 'count to 150');
  await untilTrue(() => isGrowing(message.id));
  parley.kill('SIGTERM');
  expect(await parley.ended).toBe(0);
  await start();
  await expectOneWholeAnswer('zhangwei', message.id, 150);
}, 60_000);

test('the answer of a killed worker is continued by another one in the same message [never-joined]', async () => {
  await start({ ROLES: 'receiver' });
  const workerEnv = async () => ({ ROLES: 'worker', PORT: String(await freePort()) });
  const first = await start(await workerEnv());
  const message = await driver().send('zhangwei', 'count to 120');
  await untilTrue(() => isGrowing(message.id));
  await start(await workerEnv());
  first.kill('SIGKILL');
  await expectOneWholeAnswer('zhangwei', message.id, 120);
}, 60_000);

test('a message accepted while no worker runs is answered once one starts', async () => {
  await start({ ROLES: 'receiver' });
  const message = await driver().send('zhangwei', 'count to 4');
  await untilTrue(async () => driver().trace(message.id).polls > 2);
  await start({ ROLES: 'worker', PORT: String(await freePort()) });
  await expectOneWholeAnswer('zhangwei', message.id, 4);
});

test('repeated signals end the process before its answer is complete [stopped-while-answering] [orderly-stop]', async () => {
  const parley = await start();
  // Asked by another person: the next start resumes this answer, and further questions in the same chat would wait behind
  // it.
  const message = await driver().send('linxiaoyu', 'count to 600');
  await untilTrue(() => isGrowing(message.id));
  const insist = setInterval(() => parley.kill('SIGTERM'), 100);
  expect(await parley.ended).toBe(1);
  clearInterval(insist);
}, 60_000);

test('Ctrl+C under npm start lets the running answer end, and npm exits with 0', async () => {
  const parley = await startParleyProcess({
    env: deployment.env,
    command: ['npm', 'start'],
    until: UP,
    ownGroup: true,
  });
  running.push({ ...parley, kill: (signal) => parley.killGroup(signal) });
  await untilTrue(() => driver().isBotReachable());
  const message = await driver().send('zhangwei', 'count to 60');
  await untilTrue(() => isGrowing(message.id));
  parley.killGroup('SIGINT');
  expect(await parley.ended).toBe(0);
  expect(parley.output()).not.toContain('because of an unexpected error');
  await start();
  await expectOneWholeAnswer('zhangwei', message.id, 60);
}, 60_000);

test('SIGTERM without Redis exits with 0 within the grace time [orderly-stop]', async () => {
  const redis = await startEmbeddedRedis();
  const parley = await startParleyProcess({
    env: { ...deployment.env, REDIS_URL: redis.url, PORT: String(await freePort()), SHUTDOWN_GRACE_SEC: '1' },
    until: UP,
  });
  running.push(parley);
  process.kill(redis.pid, 'SIGKILL');
  await redis.stop();
  const startedMs = Date.now();
  parley.kill('SIGTERM');
  expect(await parley.ended).toBe(0);
  expect(Date.now() - startedMs).toBeLessThan(10_000);
});

test('SIGTERM without Redis exits with 0 after conversations were summarised [orderly-stop]', async () => {
  const redis = await startEmbeddedRedis();
  const parley = await start({ REDIS_URL: redis.url, SHUTDOWN_GRACE_SEC: '1', CHAT_PROMPT_TOKENS: '1500' });
  const client = connectRedis({ urls: [redis.url] }, 'wait', recordingLog().log, 'test');
  const isAskedFor = async () => (await client.exists('{summaries}:summaries:id')) === 1;
  for (let count = 0; count < 12 && !(await isAskedFor()); count += 1) {
    const { id } = await driver().send('zhangwei', `count to 3 ${'and so on '.repeat(120)}`);
    await driver().waitForAnswer(id);
  }
  expect(await isAskedFor()).toBe(true);
  client.disconnect();
  process.kill(redis.pid, 'SIGKILL');
  await redis.stop();
  const startedMs = Date.now();
  parley.kill('SIGTERM');
  expect(await parley.ended).toBe(0);
  expect(Date.now() - startedMs).toBeLessThan(10_000);
}, 60_000);

test('invalid settings end the start with 2 and report every fault at once', async () => {
  const parley = await startParleyProcess({
    env: { PORT: 'eighty', WECOM_BOT_TOKEN: 'only-half', SECRET_KEY: 'short' },
  });
  expect(await parley.ended).toBe(2);
  for (const name of ['PORT', 'WECOM_BOT_AES_KEY', 'SECRET_KEY', 'CHAT_BASE_URL', 'SIGN_IN_URL', 'REDIS_URL']) {
    expect(parley.output()).toContain(name);
  }
  expect(parley.output()).not.toContain('only-half');
});

test('invalid files named by settings end the start with 2 and report every fault at once', async () => {
  const parley = await startParleyProcess({
    env: {
      ...deployment.env,
      ROLES: 'receiver,worker,service',
      CHAT_SYSTEM_PROMPT_FILE: '/nowhere/prompt.md',
      POLICY_FILE: 'examples/people.json',
      SERVICE_CLIENTS_FILE: '/nowhere/clients.json',
      SERVICE_DIRECTORY_FILE: 'README.md',
    },
  });
  expect(await parley.ended).toBe(2);
  for (const name of ['CHAT_SYSTEM_PROMPT_FILE', 'POLICY_FILE', 'SERVICE_CLIENTS_FILE', 'SERVICE_DIRECTORY_FILE']) {
    expect(parley.output()).toContain(name);
  }
  expect(parley.output()).not.toContain('    at ');
});

test('the server provides only health, readiness by part and metrics on PORT', async () => {
  const port = await freePort();
  const dataDir = mkdtempSync(join(tmpdir(), 'parley-alone-'));
  const parley = await startParleyProcess({
    env: { ROLES: 'service', PORT: String(port), DATA_DIR: dataDir },
    until: UP,
  });
  running.push(parley);
  const get = (path: string) => got(`http://127.0.0.1:${port}${path}`).text();
  expect(await get('/healthz')).toContain('ok');
  expect(JSON.parse(await get('/readyz'))).toEqual({ status: 'ready', parts: { redis: 'ready' } });
  expect(await get('/metrics')).toContain('parley_');
  expect(await get('/')).toContain('Parley');
  parley.kill('SIGTERM');
  expect(await parley.ended).toBe(0);
  rmSync(dataDir, { recursive: true });
});
