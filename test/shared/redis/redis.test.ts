import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { connectRedis, type RedisClient, type RedisPatience } from '../../../src/shared/redis/redis.ts';
import { loadScript } from '../../../src/shared/redis/lua-script.ts';
import { freePort, startEmbeddedRedis, type EmbeddedRedis } from '../../../src/bot/app/local/embedded-redis.ts';
import { recordingLog } from '../../support/redis.ts';
import { CLOSED_PORT } from '../../support/closed-port.ts';

/** A command has 1.2 s (SECURITY.md acknowledged-when-stored); the rest allows for a busy machine. */
const FAIL_FAST_MS = 6_000;

let server: EmbeddedRedis;
const open: RedisClient[] = [];
beforeAll(async () => {
  server = await startEmbeddedRedis();
});
afterEach(() => {
  process.kill(server.pid, 'SIGCONT');
  for (const client of open.splice(0)) client.disconnect();
});
afterAll(() => server.stop());

function connect(patience: RedisPatience, url = server.url): { redis: RedisClient; lines: string[] } {
  const { log, lines } = recordingLog();
  const redis = connectRedis({ urls: [url] }, patience, log, 'test');
  open.push(redis);
  return { redis, lines };
}

async function untilReady(redis: RedisClient): Promise<void> {
  if (redis.status !== 'ready') await new Promise((resolve) => redis.once('ready', () => resolve(undefined)));
}

/** Milliseconds until the work failed; throws if it did not fail. */
async function failureMs(work: Promise<unknown>): Promise<number> {
  const startedMs = performance.now();
  const fate = await work.then(
    () => 'done',
    () => 'failed',
  );
  expect(fate).toBe('failed');
  return performance.now() - startedMs;
}

describe('a connection to a frozen Redis', () => {
  test('fails in time if it is fail-fast, and works again immediately afterwards', async () => {
    const { redis } = connect('fail-fast');
    await untilReady(redis);
    process.kill(server.pid, 'SIGSTOP');
    expect(await failureMs(redis.set('k', '1'))).toBeLessThan(FAIL_FAST_MS);
    process.kill(server.pid, 'SIGCONT');
    expect(await redis.set('k', '2')).toBe('OK');
  });

  test('waits if it is a waiting one, and completes the command', async () => {
    const { redis } = connect('wait');
    await untilReady(redis);
    process.kill(server.pid, 'SIGSTOP');
    const work = redis.set('k', '3');
    expect(await Promise.race([work, new Promise((resolve) => setTimeout(resolve, FAIL_FAST_MS, 'waiting'))])).toBe(
      'waiting',
    );
    process.kill(server.pid, 'SIGCONT');
    expect(await work).toBe('OK');
  });
});

describe('an unavailable Redis', () => {
  test('fails a fail-fast command at once, completes a waiting one once it is back, and is logged once per state', async () => {
    const port = await freePort();
    const url = `redis://127.0.0.1:${port}/0`;
    const impatient = connect('fail-fast', url);
    const patient = connect('wait', url);
    expect(await failureMs(impatient.redis.ping())).toBeLessThan(FAIL_FAST_MS);
    const work = patient.redis.ping();
    await new Promise((resolve) => setTimeout(resolve, 400));
    const late = await startEmbeddedRedis({ port });
    try {
      expect(await work).toBe('PONG');
      await untilReady(impatient.redis);
      expect(await impatient.redis.ping()).toBe('PONG');
      for (const { lines } of [impatient, patient]) {
        expect(lines.map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual([
          'redis is unavailable',
          'redis is available again',
        ]);
      }
    } finally {
      await late.stop();
    }
  });

  test('an address may contain a user, a password and a database, which no log line shows', async () => {
    const { redis, lines } = connect('fail-fast', `redis://someone:canary-pass@127.0.0.1:${CLOSED_PORT}/3`);
    await failureMs(redis.ping());
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(lines.length).toBeGreaterThan(0);
    expect(lines.join('')).not.toContain('canary-pass');
    expect(redis.options).toMatchObject({ username: 'someone', password: 'canary-pass', db: 3 });
  });
});

describe('a Lua script', () => {
  const script = loadScript(import.meta.url, '../scripts/set-and-count.lua', {
    keys: ['place'],
    args: ['value'],
    answer: 'number',
  });

  test('runs whether or not Redis has cached it', async () => {
    const { redis } = connect('wait');
    expect(await script.run(redis, { place: 'lua:1' }, { value: 'four' })).toBe(4);
    await redis.script('FLUSH');
    expect(await script.run(redis, { place: 'lua:1' }, { value: Buffer.from([0xff, 0]) })).toBe(2);
    expect(await script.run(redis, { place: 'lua:1' }, { value: 12_345 })).toBe(5);
    expect(await redis.get('lua:1')).toBe('12345');
  });

  test('passes on its own errors without a retry', async () => {
    const { redis } = connect('wait');
    await expect(script.run(redis, {} as never, { value: '' })).rejects.toThrow();
  });
});
