import { randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { KeyRing } from '../../../src/shared/crypto/key-ring.ts';
import { parseClientsFile } from '../../../src/service/clients-file.ts';
import { wecomSignIn } from '../../../src/service/oauth/methods/wecom-sign-in.ts';
import {
  authorizePath,
  Browser,
  CALLBACK,
  CLIENT,
  exchange,
  getProfile,
  obtainAnswer,
  startTestService,
} from '../support.ts';
import { useTestService } from '../use-test-service.ts';

const { server, service } = useTestService();

/** A person who signs in with a fresh browser and reaches the consent page. */
async function reachConsent(parameters: Record<string, string> = {}, username = 'alice') {
  const browser = new Browser(service.url);
  const login = await browser.get(authorizePath(parameters));
  const consent = await browser.follow(await browser.submit(login, { username, password: `${username}-pass` }));
  return { browser, login, consent };
}

describe('the sign-in part of the service [overview]', () => {
  test('"authenticates end users through OAuth 2.0 authorization code grant": login, consent, code, tokens, profile, renewal, logout [overview]', async () => {
    const { browser, login, consent } = await reachConsent({ state: 'whole way' });
    expect(login.body).toContain('name="username"');
    expect(consent.body).toContain('name="decision"');
    const back = new URL((await browser.submit(consent, { decision: 'allow' })).headers.location ?? 'missing:');
    const { body } = await exchange(service, back.searchParams.get('code') ?? '');
    expect((await getProfile(service, body.access_token)).body.id).toBe('20190002');
    const form = { grant_type: 'refresh_token', code: '', refresh_token: String(body.refresh_token) };
    expect((await exchange(service, '', form)).status).toBe(200);
    expect((await browser.get('/logout')).statusCode).toBe(200);
  });

  test('"the sign-in step picks the method by environment": a browser gets the form and the messaging app its own identity, for the same request [overview]', async () => {
    const wecom = {
      corpId: 'ww1',
      agentId: '1',
      agentSecret: 's',
      apiUrl: 'http://127.0.0.1:7',
      openUrl: 'http://127.0.0.1:7/open',
    };
    const both = await startTestService(server.redis, { messagingApps: [wecomSignIn(wecom)] });
    const [inBrowser, inApp] = await Promise.all([
      new Browser(both.url).get(authorizePath()),
      new Browser(both.url, { 'user-agent': 'Mozilla/5.0 wxwork/4.1 MicroMessenger/7' }).get(authorizePath()),
    ]);
    await both.close();
    expect([inBrowser.statusCode, inBrowser.body.includes('name="password"')]).toEqual([200, true]);
    expect([inApp.statusCode, inApp.headers.location?.startsWith('http://127.0.0.1:7/open/')]).toEqual([302, true]);
  });

  test('"the user authenticates and consents": without consent there is no code [sign-in]', async () => {
    const { browser, consent } = await reachConsent({ state: 's2' });
    const back = await browser.submit(consent, { decision: 'deny' });
    expect(back.statusCode).toBe(303);
    expect(back.headers.location).toBe(`${CALLBACK}?error=access_denied&state=s2`);
  });

  test.each<Record<string, string>>([{}, { scope: 'SVC-Basic' }, { scope: '' }, { scope: 'openid SVC-Basic' }])(
    '"default scope is SVC-Basic": %j grants SVC-Basic [sign-in]',
    async (parameters) => {
      const code = (await obtainAnswer(new Browser(service.url), parameters)).get('code') ?? '';
      const { body } = await exchange(service, code);
      const form = { grant_type: 'refresh_token', refresh_token: String(body.refresh_token) };
      expect((await exchange(service, '', form)).body.scope).toBe('SVC-Basic');
    },
  );
});

describe('the authorize endpoint [authorize]', () => {
  test.each([
    ['unsupported_response_type', { response_type: 'token' }],
    ['unsupported_response_type', { response_type: 'code token' }],
    ['unsupported_response_type', { response_type: 'Code' }],
  ])('response_type "fixed code": %s for %j is returned to the client [authorize]', async (error, parameters) => {
    const answer = await new Browser(service.url).get(authorizePath({ state: 's1', ...parameters }));
    expect(answer.headers.location).toBe(`${CALLBACK}?error=${error}&state=s1`);
  });

  test('response_type "required": a missing one is returned to the client as invalid_request [authorize]', async () => {
    const query = new URLSearchParams({ client_id: 'parley', redirect_uri: CALLBACK, state: 's1' });
    const answer = await new Browser(service.url).get(`/oauth2.0/authorize?${query.toString()}`);
    expect(answer.headers.location).toBe(`${CALLBACK}?error=invalid_request&state=s1`);
  });

  test.each(['client_id', 'redirect_uri'])(
    '%s "required": a missing one gets a 4xx page, never a redirect [authorize]',
    async (name) => {
      const query = new URLSearchParams({ response_type: 'code', client_id: 'parley', redirect_uri: CALLBACK });
      query.delete(name);
      const answer = await new Browser(service.url).get(`/oauth2.0/authorize?${query.toString()}`);
      expect([answer.statusCode, answer.headers.location]).toEqual([400, undefined]);
    },
  );

  test.each([
    ['client_id "application identifier": an unknown client', { client_id: 'nobody' }],
    ['client_id "application identifier": another case', { client_id: 'Parley' }],
    ['redirect_uri "application callback address": one more slash', { redirect_uri: `${CALLBACK}/` }],
    ['redirect_uri "application callback address": one more parameter', { redirect_uri: `${CALLBACK}?x=1` }],
    [
      'redirect_uri "application callback address": a dot path',
      { redirect_uri: 'http://127.0.0.1:9/oauth/./callback' },
    ],
    ['redirect_uri "application callback address": another case', { redirect_uri: CALLBACK.replace('oauth', 'OAuth') }],
    ['redirect_uri "application callback address": a user part', { redirect_uri: CALLBACK.replace('//', '//x@') }],
    ['redirect_uri "application callback address": another client\'s', { redirect_uri: 'http://127.0.0.1:9/other' }],
  ])('%s gets a 4xx page, never a redirect [authorize]', async (_, parameters) => {
    const answer = await new Browser(service.url).get(authorizePath(parameters));
    expect([answer.statusCode, answer.headers.location]).toEqual([400, undefined]);
    expect(answer.headers['content-type']).toContain('text/html');
  });

  test('scope "default SVC-Basic": a scope without it is returned as invalid_scope [authorize]', async () => {
    const answer = await new Browser(service.url).get(authorizePath({ scope: 'everything', state: 's1' }));
    expect(answer.headers.location).toBe(`${CALLBACK}?error=invalid_scope&state=s1`);
  });

  test.each(['response_type', 'client_id', 'redirect_uri', 'scope', 'state', 'code_challenge'])(
    'RFC 6749 3.1: a repeated or overlong %s gets a 4xx page',
    async (name) => {
      const browser = new Browser(service.url);
      const parameters = new URLSearchParams(authorizePath({ scope: 'SVC-Basic', state: 's' }).split('?')[1]);
      const twice = `/oauth2.0/authorize?${parameters.toString()}&${name}=x&${name}=x`;
      parameters.set(name, 'x'.repeat(2_049));
      for (const path of [twice, `/oauth2.0/authorize?${parameters.toString()}`]) {
        const answer = await browser.get(path);
        expect([answer.statusCode, answer.headers.location]).toEqual([400, undefined]);
      }
    },
  );

  test.each<Record<string, string>>([
    { code_challenge: 'x'.repeat(43), code_challenge_method: 'plain' },
    { code_challenge: 'x'.repeat(43) },
    { code_challenge_method: 'S256' },
    { code_challenge: 'x'.repeat(42), code_challenge_method: 'S256' },
  ])('RFC 7636 4.4.1: %j is returned as invalid_request, since only S256 gives protection', async (parameters) => {
    const answer = await new Browser(service.url).get(authorizePath({ state: 's1', ...parameters }));
    expect(answer.headers.location).toBe(`${CALLBACK}?error=invalid_request&state=s1`);
  });

  test('result "redirect to an authentication page; on success the browser is sent to <redirect_uri>?code=<code>" [authorize]', async () => {
    const { browser, consent } = await reachConsent();
    const back = await browser.submit(consent, { decision: 'allow' });
    expect(back.statusCode).toBe(303);
    expect(back.headers.location).toMatch(/^http:\/\/127\.0\.0\.1:9\/oauth\/callback\?code=[\w-]{43}$/);
  });

  test('result: the code is added to a redirect address that has a query [authorize]', async () => {
    const answer = await obtainAnswer(new Browser(service.url), { redirect_uri: 'http://127.0.0.1:9/with?x=1' });
    expect([...answer.keys()]).toEqual(['x', 'code']);
  });

  test.each(['a+b &ü', '=', '%26', ' ', '中文\n', '\'"<>'])(
    'RFC 6749 4.1.2: the state %j is returned unchanged',
    async (state) => {
      expect((await obtainAnswer(new Browser(service.url), { state })).get('state')).toBe(state);
    },
  );

  test('RFC 6749 3.1: a parameter without a value counts as missing, except that an empty state is returned', async () => {
    const empty = { scope: '', code_challenge: '', code_challenge_method: '', state: '' };
    const answer = await obtainAnswer(new Browser(service.url), empty);
    expect([...answer.keys()]).toEqual(['code', 'state']);
    const refused = await new Browser(service.url).get(authorizePath({ response_type: '' }));
    expect(refused.headers.location).toBe(`${CALLBACK}?error=invalid_request`);
  });

  test('authorization code "different for each authorization" [profile]', async () => {
    const browser = new Browser(service.url);
    const first = (await obtainAnswer(browser)).get('code');
    const page = await browser.get(authorizePath());
    const second = new URL((await browser.submit(page, { decision: 'allow' })).headers.location ?? 'missing:');
    expect(second.searchParams.get('code')).toMatch(/^[\w-]{43}$/);
    expect(second.searchParams.get('code')).not.toBe(first);
  });
});

describe('consent to an application', () => {
  beforeEach(() => server.redis.flushall());

  test('is the only step of a second sign-in in the same browser', async () => {
    const { browser } = await reachConsent();
    const page = await browser.get(authorizePath());
    expect(page.body).toContain('name="decision"');
    expect(page.body).not.toContain('name="password"');
  });

  test('is remembered for one client and not requested again', async () => {
    const { browser, consent } = await reachConsent();
    await browser.submit(consent, { decision: 'allow', remember: 'yes' });
    const silent = await browser.get(authorizePath({ state: 's3' }));
    expect(silent.headers.location).toMatch(/\?code=[\w-]{43}&state=s3$/);
    const other = await browser.get(authorizePath({ client_id: 'other', redirect_uri: 'http://127.0.0.1:9/other' }));
    expect(other.body).toContain('name="decision"');
  });

  test('is requested again after its withdrawal on the account page, which ends tokens and unused codes', async () => {
    const { browser, consent } = await reachConsent();
    const back = await browser.submit(consent, { decision: 'allow', remember: 'yes' });
    const { body } = await exchange(service, new URL(back.headers.location ?? '').searchParams.get('code') ?? '');
    const waiting = await browser.get(authorizePath());
    const account = await browser.get('/account');
    expect(account.body).toContain('Parley bot');
    await browser.submit(account, {});
    expect((await browser.get(authorizePath())).body).toContain('name="decision"');
    expect((await getProfile(service, body.access_token)).status).toBe(401);
    const refresh = { grant_type: 'refresh_token', refresh_token: String(body.refresh_token) };
    expect((await exchange(service, '', refresh)).body.error).toBe('invalid_grant');
    const late = await exchange(service, new URL(waiting.headers.location ?? '').searchParams.get('code') ?? '');
    expect(late.body.error).toBe('invalid_grant');
  });

  test('of other people is not affected by a withdrawal', async () => {
    const hers = await reachConsent();
    await hers.browser.submit(hers.consent, { decision: 'allow' });
    const his = await obtainAnswer(new Browser(service.url));
    const { body } = await exchange(service, his.get('code') ?? '');
    await hers.browser.submit(await hers.browser.get('/account'), {});
    expect((await getProfile(service, body.access_token)).status).toBe(200);
  });

  test('on a page of a person who has signed out meanwhile has no effect', async () => {
    const { browser, consent } = await reachConsent();
    browser.cookies.delete('__Host-svc-session');
    const answer = await browser.submit(consent, { decision: 'allow' });
    expect(answer.headers.location).toBe(authorizePath());
  });

  test('tokens of an application that was removed from the clients file are invalid', async () => {
    const keyRing = new KeyRing([randomBytes(32)]);
    const gone = await startTestService(server.redis, {
      keyRing,
      clients: parseClientsFile(JSON.stringify([{ ...CLIENT, client_id: 'gone' }])),
    });
    const answer = await obtainAnswer(new Browser(gone.url), { client_id: 'gone' });
    const { body } = await exchange(gone, answer.get('code') ?? '', { client_id: 'gone' });
    expect((await getProfile(gone, body.access_token)).status).toBe(200);
    await gone.close();
    const after = await startTestService(server.redis, { keyRing });
    expect((await getProfile(after, body.access_token)).status).toBe(401);
    await after.close();
  });
});
