import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from '@jest/globals';
import { checkRedis } from '../../../src/cli/check/check-redis.ts';
import { readRedisFacts } from '../../../src/bot/metrics/redis-facts.ts';
import { watchRedisSafety } from '../../../src/bot/metrics/redis-safety.ts';
import { Redis } from 'ioredis';
import { connectRedis } from '../../../src/shared/redis/redis.ts';
import { freePort, startEmbeddedRedis, type EmbeddedRedis } from '../../../src/bot/app/local/embedded-redis.ts';
import { recordingLog } from '../../support/redis.ts';
import { verdicts } from './support.ts';
import { CLOSED_PORT } from '../../support/closed-port.ts';

const endings: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

async function start(...extraArguments: string[]): Promise<EmbeddedRedis> {
  const server = await startEmbeddedRedis({ extraArguments });
  endings.push(() => server.stop());
  return server;
}

function check(url: string, isLossAllowed = false) {
  return checkRedis({ address: { urls: [url] }, isLossAllowed, log: recordingLog().log, answerLimitMs: 500 });
}

describe('the check of Redis', () => {
  test('accepts a suitable Redis', async () => {
    const results = await check((await start()).url);
    expect(verdicts(results)).toEqual({ Redis: 'ok', 'Redis persistence': 'ok', 'Redis eviction': 'ok' });
    expect(results[0]?.detail).toMatch(/version \d+\.\d+/);
  });

  test('reports a Redis that loses and evicts data', async () => {
    const { url } = await start('--appendonly', 'no', '--maxmemory', '100mb', '--maxmemory-policy', 'allkeys-lru');
    const faults = { Redis: 'ok', 'Redis persistence': 'fault', 'Redis eviction': 'fault' };
    expect(verdicts(await check(url))).toEqual(faults);
    expect(verdicts(await check(url, true))).toEqual({ ...faults, 'Redis persistence': 'warning' });
  });

  test('warns about an eviction policy that applies only with a limit', async () => {
    const { url } = await start('--maxmemory-policy', 'allkeys-lru');
    expect(verdicts(await check(url))).toMatchObject({ 'Redis eviction': 'warning' });
  });

  test('reports a Redis that does not answer, without its password', async () => {
    const results = await check(`redis://user:the-password@127.0.0.1:${CLOSED_PORT}/0`);
    expect(verdicts(results)).toEqual({ Redis: 'fault' });
    expect(JSON.stringify(results)).not.toContain('the-password');
    expect(results[0]?.detail).toBe('does not answer');
  });

  test('does not report a Redis that refuses the password as unavailable', async () => {
    const { url } = await start();
    const admin = new Redis(url, { maxRetriesPerRequest: null });
    await admin.config('SET', 'requirepass', 'the-right-password');
    admin.disconnect();
    for (const wrong of [url, url.replace('redis://', 'redis://:the-wrong-password@')]) {
      const [result, ...more] = await check(wrong);
      expect(more).toEqual([]);
      expect(result).toMatchObject({ verdict: 'fault', detail: 'refuses the user or the password' });
      expect(result?.nextStep).toContain('REDIS_URL');
      expect(JSON.stringify(result)).not.toContain('the-wrong-password');
    }
  });
});

/** 50 ms per key, and an answer to other clients between two keys. */
const SLOW_TO_LOAD = ['--key-load-delay', '50000', '--loading-process-events-interval-bytes', '1024'];

/** Starts a Redis that loads its files for two seconds. It is suitable, but reports no persistence while it loads. */
async function startLoading(): Promise<string> {
  const dataDir = mkdtempSync(join(tmpdir(), 'parley-loading-'));
  endings.push(() => rmSync(dataDir, { recursive: true }));
  const [port, first] = [await freePort(), await startEmbeddedRedis({ dataDir })];
  const redis = new Redis(first.url, { maxRetriesPerRequest: null });
  await redis.mset(Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`key${index}`, randomBytes(1_000)])));
  await redis.bgrewriteaof();
  while ((await redis.info('persistence')).includes('aof_rewrite_in_progress:1'))
    await new Promise((resolve) => setTimeout(resolve, 10));
  redis.disconnect();
  await first.stop();
  const slow = startEmbeddedRedis({ dataDir, port, extraArguments: SLOW_TO_LOAD });
  endings.push(async () => (await slow).stop());
  const url = `redis://127.0.0.1:${port}/0`;
  const watcher = new Redis(url, { enableReadyCheck: false, maxRetriesPerRequest: null });
  watcher.on('error', () => undefined);
  endings.push(() => watcher.disconnect());
  while (!(await watcher.info('persistence')).includes('loading:1'))
    await new Promise((resolve) => setTimeout(resolve, 5));
  return url;
}

test('neither refuses a Redis that is loading its files nor reports it as unsafe', async () => {
  const url = await startLoading();
  const redis = new Redis(url, { enableReadyCheck: false, maxRetriesPerRequest: null });
  endings.push(() => redis.disconnect());
  expect(await readRedisFacts(redis)).toMatchObject({ isLoading: true, hasAppendOnlyFile: false });
  const unsafe: string[] = [];
  const { log, lines } = recordingLog();
  endings.push(
    watchRedisSafety(redis, { isLossAllowed: false, log, onUnsafe: (said) => unsafe.push(said), retryMs: 20 }),
  );
  while (!lines.some((line) => line.includes('has not been checked yet')))
    await new Promise((resolve) => setTimeout(resolve, 5));
  while ((await readRedisFacts(redis)).isLoading) await new Promise((resolve) => setTimeout(resolve, 20));
  expect(verdicts(await check(url))).toMatchObject({ 'Redis persistence': 'ok' });
  expect(unsafe).toEqual([]);
});

describe('the check of Redis at a start', () => {
  function watch(url: string, isLossAllowed = false) {
    const { log, lines } = recordingLog();
    const redis = connectRedis({ urls: [url] }, 'fail-fast', log, 'test');
    endings.push(() => redis.disconnect());
    const looked = new Promise<string>((resolve) => {
      endings.push(watchRedisSafety(redis, { isLossAllowed, log, onUnsafe: resolve, retryMs: 20 }));
    });
    return { looked, lines };
  }

  test('refuses a Redis that could lose or evict acknowledged data [durable-redis]', async () => {
    const forgetful = watch((await start('--appendonly', 'no')).url);
    await expect(forgetful.looked).resolves.toMatch(/appendonly yes/);
    const evicting = watch((await start('--maxmemory', '100mb', '--maxmemory-policy', 'allkeys-lru')).url);
    await expect(evicting.looked).resolves.toMatch(/noeviction/);
  });

  test('accepts an allowed loss with a warning, and waits for a Redis that is not yet available', async () => {
    const port = await freePort();
    const { looked, lines } = watch(`redis://127.0.0.1:${port}/0`, true);
    const server = await startEmbeddedRedis({ port, extraArguments: ['--appendonly', 'no'] });
    endings.push(() => server.stop());
    const warned = async () => {
      while (!lines.some((line) => line.includes('loses messages')))
        await new Promise((resolve) => setTimeout(resolve, 20));
      return 'warned';
    };
    await expect(Promise.race([looked, warned()])).resolves.toBe('warned');
  });
});
