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

// After a broken connection the Redis client repeats commands that got no response, although Redis may have executed them.
// Whichever response is lost, an application gets its tokens, and a real second use of a code or return is still refused.

/** An app whose web sign-in redirects the browser back immediately. */
const APP = 'In-App-Browser';
const app: MakeMessagingApp = () => ({
  name: 'wecom',
  ignoresCase: false,
  isOpenIn: (userAgent) => userAgent === APP,
  startRedirect: async ({ callbackUrl, state }) => ({ location: `${callbackUrl}?state=${state}` }),
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

test('an application gets its profile and a second use of the code revokes it, whichever Redis response is lost', async () => {
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
  const reused = 'The code was already used; its tokens are now revoked';
  expect(seen).toEqual(seen.map(() => [200, 200, '20190001', reused, 401]));
  expect(seen.length).toBeGreaterThan(12);
}, 60_000);

test('a refused exchange gives its reason and uses the code up, whichever Redis response is lost', async () => {
  const seen = await whicheverIsLost(
    () => obtainCode(service),
    async (code) => {
      const wrong = await exchange(service, code, { redirect_uri: 'http://127.0.0.1:9/with?x=1' });
      return [wrong.body['error_description'], (await exchange(service, code)).body['error_description']];
    },
  );
  const redirect = 'redirect_uri differs from that of the authorization request; the code is now invalid';
  const spent = 'The code became invalid when an earlier exchange was refused';
  expect(seen).toEqual(seen.map(() => [redirect, spent]));
  expect(seen.length).toBeGreaterThan(2);
});

test('a return from a messaging app signs in once per state, whichever Redis response is lost', async () => {
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
