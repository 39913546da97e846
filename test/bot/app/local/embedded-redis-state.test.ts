import { afterEach, expect, test } from '@jest/globals';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { freePort, startEmbeddedRedis, type EmbeddedRedis } from '../../../../src/bot/app/local/embedded-redis.ts';
import { startSupervisedRedis } from '../../../../src/bot/app/local/embedded-redis-state.ts';
import { childRunning, SEES_CHILDREN } from '../../../support/child-processes.ts';
import { startParleyProcess } from '../../../support/parley-process.ts';
import { recordingLog } from '../../../support/redis.ts';
import { untilTrue } from '../../../support/deployment.ts';

let server: EmbeddedRedis | undefined;
const folders: string[] = [];
afterEach(async () => {
  await server?.stop();
  server = undefined;
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** Sends one command. Returns undefined if no server is listening. */
async function ask(url: string, ...[command = '', ...args]: string[]): Promise<unknown> {
  const redis = new Redis(url, { retryStrategy: () => null, maxRetriesPerRequest: 0, disconnectTimeout: 50 });
  redis.on('error', () => undefined);
  try {
    return await redis.call(command, ...args);
  } catch {
    return undefined;
  } finally {
    redis.disconnect();
  }
}
const isUp = async (url: string) => (await ask(url, 'PING')) === 'PONG';

test('restarts a killed embedded Redis on its port with its data, and reports a second kill right afterwards in a sentence', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'parley-kept-'));
  folders.push(dataDir);
  const { log, lines } = recordingLog();
  const told: string[] = [];
  server = await startSupervisedRedis({
    start: (port) => startEmbeddedRedis({ dataDir, ...(port === undefined ? {} : { port }) }),
    log,
    onGone: (sentence) => void told.push(sentence),
  });
  const { url, pid } = server;
  await ask(url, 'SET', 'said', 'before');
  process.kill(pid, 'SIGKILL');
  await untilTrue(async () => (await ask(url, 'GET', 'said')) === 'before');
  await untilTrue(() => server?.pid !== pid);
  expect(lines.join()).toContain('Parley restarts it');
  expect(told).toEqual([]);
  process.kill(server.pid, 'SIGKILL');
  await untilTrue(() => told.length > 0);
  expect(told).toEqual([expect.stringContaining('set REDIS_URL')]);
  expect(await isUp(url)).toBe(false);
}, 60_000);

test('does not restart an embedded Redis that was stopped in order', async () => {
  const { log, lines } = recordingLog();
  server = await startSupervisedRedis({
    start: (port) => startEmbeddedRedis(port ? { port } : {}),
    log,
    onGone: () => undefined,
  });
  await server.stop();
  expect(await isUp(server.url)).toBe(false);
  expect(lines).toEqual([]);
});

test('an embedded Redis ends when the process that started it is killed', async () => {
  const start = `const { startEmbeddedRedis } = await import(process.cwd() + '/dist-modules/bot/app/local/embedded-redis.js');
    console.log('at ' + (await startEmbeddedRedis()).url);`;
  const owner = await startParleyProcess({
    env: {},
    command: ['node', '--input-type=module', '-e', `${start} setInterval(() => undefined, 1e6)`],
    until: /at redis:.*\n/,
  });
  const url = /at (\S+)/.exec(owner.output())?.[1] ?? '';
  expect(await isUp(url)).toBe(true);
  owner.kill('SIGKILL');
  await untilTrue(async () => !(await isUp(url)), 10_000);
}, 60_000);

test('an embedded Redis that is still starting ends when the process that starts it is killed', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'parley-slow-'));
  folders.push(dir);
  const program = join(dir, 'slow-redis');
  // Never becomes ready and would run for a minute if nothing stopped it.
  const script = `#!/bin/sh
trap 'touch "$0.ended"; exit' TERM
touch "$0.began"
rounds=0
while [ $rounds -lt 300 ]; do sleep 0.2; rounds=$((rounds + 1)); done
`;
  writeFileSync(program, script, { mode: 0o755 });
  const options = JSON.stringify({ program, port: await freePort(), dataDir: dir });
  const start = `const { startEmbeddedRedis } = await import(process.cwd() + '/dist-modules/bot/app/local/embedded-redis.js');
    startEmbeddedRedis(${options}).catch(() => undefined); console.log('starting');`;
  const owner = await startParleyProcess({
    env: {},
    command: ['node', '--input-type=module', '-e', start],
    until: /starting\n/,
  });
  const isWatched = () => !SEES_CHILDREN || childRunning('cat >/dev/null', owner.pid) !== undefined;
  await untilTrue(() => existsSync(`${program}.began`) && isWatched());
  owner.kill('SIGKILL');
  await untilTrue(() => existsSync(`${program}.ended`), 10_000);
}, 30_000);

test('a stopped embedded Redis does not keep its process alive', async () => {
  const start = `const { startEmbeddedRedis } = await import(process.cwd() + '/dist-modules/bot/app/local/embedded-redis.js');
    const server = await startEmbeddedRedis(); await server.stop(); console.log('stopped');`;
  const owner = await startParleyProcess({
    env: {},
    command: ['node', '--input-type=module', '-e', start],
    until: /stopped/,
  });
  expect(await owner.ended).toBe(0);
}, 60_000);
