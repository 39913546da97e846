import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { connectRedis, type RedisClient } from '../../../src/shared/redis/redis.ts';
import { recordingLog, startTestRedis, type TestRedis } from '../../support/redis.ts';
import { untilTrue } from '../../support/deployment.ts';
import { startIdentityFixture } from './identity-fixture.ts';

let server: TestRedis;
let redis: RedisClient;
beforeAll(async () => {
  server = await startTestRedis();
  redis = connectRedis({ urls: [server.url] }, 'fail-fast', recordingLog().log, 'receiver');
  await untilTrue(() => redis.status === 'ready');
});
afterAll(async () => {
  redis.disconnect();
  await server.stop();
});

test('a link that Redis commits after the page timed out is still announced and released exactly once', async () => {
  const fixture = await startIdentityFixture(redis);
  const browser = fixture.browser('20001', '20001');
  const confirm = await fixture.walkToConfirm(browser, await fixture.link('20001'));
  // Reads continue; writes run after the pause.
  await server.redis.call('CLIENT', 'PAUSE', '2500', 'WRITE');
  expect((await browser.submit(confirm, '/sign-in/confirm')).status).toBe(503);
  await untilTrue(() => fixture.notices.length > 0);
  expect(fixture.notices.map(({ notice }) => notice.kind)).toEqual(['linked']);
  expect(fixture.releases).toHaveLength(1);
  expect((await browser.get(`${fixture.url}/sign-in/confirm`)).text).toContain('You are signed in');
  expect(fixture.events.filter((event) => event === 'linked')).toHaveLength(1);
  await fixture.close();
}, 60_000);
