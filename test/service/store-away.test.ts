import { expect, test } from '@jest/globals';
import { connectRedis } from '../../src/shared/redis/redis.ts';
import { recordingLog } from '../support/redis.ts';
import { askChat } from './chat-client.ts';
import { authorizePath, Browser, exchange, getProfile, obtainCode, startTestService } from './support.ts';
import { useTestRedis } from '../support/use-test-redis.ts';

const server = useTestRedis();

test.each(['fail-fast', 'wait'] as const)(
  'while Redis hangs, pages and token requests get 503 within 2 s and chat continues; afterwards all works (%s)',
  async (patience) => {
    const redis = connectRedis({ urls: [server.url] }, patience, recordingLog().log, 'service');
    await new Promise((resolve) => redis.once('ready', resolve));
    const service = await startTestService(redis);
    const browser = new Browser(service.url);
    await browser.submit(await browser.get(authorizePath()), { username: 'alice', password: 'alice-pass' });
    process.kill(server.pid, 'SIGSTOP');
    try {
      const startedAtMs = performance.now();
      const [page, token, profile, chat, isReady] = await Promise.all([
        browser.get(authorizePath()),
        exchange(service, 'some-code'),
        getProfile(service, 'some-token'),
        askChat(service, { model: 'svc-max', messages: [{ role: 'user', content: 'hello' }] }),
        service.isReady(),
      ]);
      expect([page.statusCode, token.status, profile.status, chat.status, isReady]).toEqual([
        503,
        503,
        503,
        200,
        false,
      ]);
      expect(page.headers['retry-after']).toBe('5');
      expect(token.body.error).toBe('temporarily_unavailable');
      // The deadline is 1.5 s; the rest allows for a busy machine.
      expect(performance.now() - startedAtMs).toBeLessThan(6_000);
    } finally {
      process.kill(server.pid, 'SIGCONT');
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect((await exchange(service, await obtainCode(service))).status).toBe(200);
    expect(await service.isReady()).toBe(true);
    await service.close();
    redis.disconnect();
  },
);
