import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { freePort } from '../../src/bot/app/local/embedded-redis.ts';
import { startDeployment, untilTrue, type Deployment } from '../support/deployment.ts';
import { startParleyProcess } from '../support/parley-process.ts';
import { startRawConnections, type RawConnections } from '../support/raw-wecom-connections.ts';

// A process that ends between recording the place of an answer and accepting its message. No other process has that message.

let deployment: Deployment;
let wecom: RawConnections;

beforeAll(async () => {
  wecom = await startRawConnections();
  const env = { SIGN_IN: 'off', SIGN_IN_PROOF: '', WECOM_WS_URL: wecom.url };
  deployment = await startDeployment({ isConnected: true, startsBot: false, env });
}, 60_000);
afterAll(async () => {
  await deployment.stop();
  await wecom.stop();
});

test('the next holder asks the sender of a message that was not accepted to send it again [answer-has-a-place]', async () => {
  const env = { ...deployment.env, PORT: String(await freePort()), ROLES: 'receiver' };
  const first = await startParleyProcess({ env, until: /is running|has started/ });
  await untilTrue(() => wecom.isSubscribed);
  const request = wecom.say('count to 7');
  const places = () => deployment.redis.keys('{wecom-bot:*}:replies');
  const records = () => deployment.redis.keys('{p*}:*');
  await untilTrue(async () => (await places()).length === 1 && (await records()).length > 0);
  first.kill('SIGKILL');
  await first.ended;
  // The state after a process that ended one step earlier.
  await deployment.redis.del(await records());
  await deployment.startBot();
  // Until then a failover may still restore the message.
  await untilTrue(() => wecom.shown(request).at(-1)?.finish === true, 90_000);
  expect(wecom.shown(request).at(-1)?.content).toMatch(/^This answer is no longer available\. Please ask again\./);
  await untilTrue(async () => (await places()).length === 0);
  expect(await deployment.redis.keys('*:message:*')).toEqual([]);
}, 150_000);
