import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { MakeMessagingApp } from '../../src/service/oauth/methods/redirect-sign-in.ts';
import { losingEachAnswer, startForgetfulRedis, type ForgetfulRedis } from '../support/lost-answers.ts';
import {
  authorizePath,
  Browser,
  exchange,
  getProfile,
  obtainCode,
  startTestService,
  type TestService,
} from './support.ts';

// A client whose connection broke sends again what it got no answer for; Redis may have carried it out already. Whichever
// answer is lost, an application gets its tokens, and a code or a return that is really used twice is refused as ever.

/** An app whose web sign-in sends the browser straight back. */
const APP = 'In-App-Browser';
const app: MakeMessagingApp = () => ({
  name: 'wecom',
  ignoresCase: false,
  isOpenIn: (userAgent) => userAgent === APP,
  leave: async ({ callbackUrl, state }) => ({ location: `${callbackUrl}?state=${state}` }),
  identify: async () => ({ userId: 'zhangweiWeCom' }),
});

let forgetful: ForgetfulRedis;
let service: TestService;
beforeAll(async () => {
  forgetful = await startForgetfulRedis('fail-fast');
  service = await startTestService(forgetful.redis, { messagingApps: [app] });
});
afterAll(async () => {
  await service.close();
  await forgetful.stop();
});

const whicheverIsLost = <Ready>(prepare: () => Promise<Ready>, act: (ready: Ready) => Promise<unknown>) =>
  losingEachAnswer(forgetful, { prepare, act, tidy: () => forgetful.redis.flushdb() });

test('from the login to the profile an application gets what it asks for, and a second use of the code ends it', async () => {
  const seen = await whicheverIsLost(
    async () => undefined,
    async () => {
      const code = await obtainCode(service);
      const { status, body } = await exchange(service, code);
      const form = { grant_type: 'refresh_token', refresh_token: String(body['refresh_token']) };
      const refreshed = await exchange(service, '', form);
      const profile = await getProfile(service, body['access_token']);
      const again = await exchange(service, code);
      const after = await getProfile(service, body['access_token']);
      return [status, refreshed.status, profile.body['id'], again.body['error_description'], after.status];
    },
  );
  const reused = 'The code was used before; what it gave is revoked';
  expect(seen).toEqual(seen.map(() => [200, 200, '20190001', reused, 401]));
  expect(seen.length).toBeGreaterThan(12);
}, 60_000);

test('an exchange that is refused says why, and the code is used up', async () => {
  const seen = await whicheverIsLost(
    () => obtainCode(service),
    async (code) => {
      const wrong = await exchange(service, code, { redirect_uri: 'http://127.0.0.1:9/with?x=1' });
      return [wrong.body['error_description'], (await exchange(service, code)).body['error_description']];
    },
  );
  const redirect = 'redirect_uri differs from the one of the authorization; the code is used up';
  const spent = 'The code was used up by an earlier exchange that was refused';
  expect(seen).toEqual(seen.map(() => [redirect, spent]));
  expect(seen.length).toBeGreaterThan(2);
});

test('a browser that comes back from a messaging app is signed in, once for each state', async () => {
  const seen = await whicheverIsLost(
    async () => new Browser(service.url, { 'user-agent': APP }),
    async (browser) => {
      const leaving = await browser.get(authorizePath());
      const cookies = [...browser.cookies];
      const back = await browser.follow(leaving);
      const consent = await browser.follow(back);
      for (const [name, value] of cookies) browser.cookies.set(name, value);
      const again = await browser.follow(leaving);
      return [back.statusCode, consent.body.includes('Parley bot'), again.statusCode];
    },
  );
  expect(seen).toEqual(seen.map(() => [303, true, 400]));
  expect(seen.length).toBeGreaterThan(4);
});
