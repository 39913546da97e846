import { afterEach, describe, expect, test } from '@jest/globals';
import { checkRedis } from '../../src/admin/check-redis.ts';
import { watchRedisSafety } from '../../src/admin/redis-safety.ts';
import { connectRedis } from '../../src/base/redis.ts';
import { freePort, startEmbeddedRedis, type EmbeddedRedis } from '../../src/local/embedded-redis.ts';
import { recordingLog } from '../support/redis.ts';
import { verdicts } from './support.ts';

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

describe('check', () => {
  test('a Redis as Parley needs it', async () => {
    const results = await check((await start()).url);
    expect(verdicts(results)).toEqual({ Redis: 'ok', 'Redis persistence': 'ok', 'Redis eviction': 'ok' });
    expect(results[0]?.detail).toMatch(/version \d+\.\d+/);
  });

  test('one that forgets and throws away', async () => {
    const { url } = await start('--appendonly', 'no', '--maxmemory', '100mb', '--maxmemory-policy', 'allkeys-lru');
    const faults = { Redis: 'ok', 'Redis persistence': 'fault', 'Redis eviction': 'fault' };
    expect(verdicts(await check(url))).toEqual(faults);
    expect(verdicts(await check(url, true))).toEqual({ ...faults, 'Redis persistence': 'warning' });
  });

  test('a policy that bites only with a limit is a warning', async () => {
    const { url } = await start('--maxmemory-policy', 'allkeys-lru');
    expect(verdicts(await check(url))).toMatchObject({ 'Redis eviction': 'warning' });
  });

  test('one that does not answer, without its password', async () => {
    const results = await check(`redis://user:the-password@127.0.0.1:${await freePort()}/0`);
    expect(verdicts(results)).toEqual({ Redis: 'fault' });
    expect(JSON.stringify(results)).not.toContain('the-password');
  });
});

describe('the look at start', () => {
  function watch(url: string, isLossAllowed = false) {
    const { log, lines } = recordingLog();
    const redis = connectRedis({ urls: [url] }, 'fail-fast', log, 'test');
    endings.push(() => redis.disconnect());
    const looked = new Promise<string>((resolve) => {
      endings.push(watchRedisSafety(redis, { isLossAllowed, log, onUnsafe: resolve, retryMs: 20 }));
    });
    return { looked, lines };
  }

  test('refuses a Redis that would lose or throw away what it acknowledged', async () => {
    const forgetful = watch((await start('--appendonly', 'no')).url);
    await expect(forgetful.looked).resolves.toMatch(/appendonly yes/);
    const evicting = watch((await start('--maxmemory', '100mb', '--maxmemory-policy', 'allkeys-lru')).url);
    await expect(evicting.looked).resolves.toMatch(/noeviction/);
  });

  test('accepts a loss that is allowed, with a warning, and waits for a Redis that is not there yet', async () => {
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
