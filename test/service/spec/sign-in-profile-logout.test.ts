import { randomBytes } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { got, type Method } from 'got';
import { KeyRing } from '../../../src/shared/crypto/key-ring.ts';
import { parseDirectoryFile } from '../../../src/service/directory-file.ts';
import {
  authorizePath,
  Browser,
  CALLBACK,
  exchange,
  getProfile,
  obtainAnswer,
  obtainCode,
  PEOPLE,
  startTestService,
  type TestService,
} from '../support.ts';
import { useTestService } from '../use-test-service.ts';

const { server, service } = useTestService();

/** Shared, so that a restarted service can decrypt the records of the previous one. */
const keyRing = new KeyRing([randomBytes(32)]);
const tokensOf = async (of: TestService = service) => (await exchange(of, await obtainCode(of))).body;

async function askProfile(options: { method?: Method; query?: string; headers?: Record<string, string> } = {}) {
  const { method = 'GET', query = '', headers = {} } = options;
  const answer = await got(`${service.url}/oauth2.0/profile${query}`, {
    method,
    headers,
    throwHttpErrors: false,
    retry: { limit: 0 },
  });
  return { status: answer.statusCode, body: answer.body, headers: answer.headers };
}

describe('user profile [profile]', () => {
  test.each([
    ['id', 'string', '20190001'],
    ['active', 'boolean', true],
    ['parentIdentityInfo', 'object', { name: '教职工', code: 'JG' }],
    ['attributes', 'object', { BMBM: '101', BMMC: 'Library', XGH: '20190001', XM: '张伟', objectId: 'obj-20190001' }],
    ['client_id', 'string', 'parley'],
  ])('%s (%s) [profile]', async (field, type, expected) => {
    const { body } = await getProfile(service, (await tokensOf()).access_token);
    expect(typeof body[field]).toBe(type);
    expect(body[field]).toEqual(expected);
  });

  test.each([
    ['BMBM', '101'],
    ['BMMC', 'Library'],
    ['XGH', '20190001'],
    ['XM', '张伟'],
    ['objectId', 'obj-20190001'],
  ])('attributes.%s (string) [profile]', async (field, expected) => {
    const { body } = await getProfile(service, (await tokensOf()).access_token);
    expect(body['attributes']).toMatchObject({ [field]: expected });
  });

  test('client_id: the application of the token [profile]', async () => {
    const parameters = { client_id: 'other', redirect_uri: 'http://127.0.0.1:9/other' };
    const { body } = await exchange(service, await obtainCode(service, parameters), {
      ...parameters,
      client_secret: 'other-secret',
    });
    expect((await getProfile(service, body.access_token)).body.client_id).toBe('other');
  });

  test('"response: user profile, JSON": exactly these fields, with no-store [profile]', async () => {
    const answer = await getProfile(service, (await tokensOf()).access_token);
    expect(Object.keys(answer.body).sort()).toEqual([
      'active',
      'attributes',
      'client_id',
      'id',
      'parentIdentityInfo',
      'sub',
    ]);
    expect(answer.body['sub']).toBe(answer.body['id']);
    expect(answer.headers['content-type']).toMatch(/^application\/json/);
    expect([answer.headers['cache-control'], answer.headers['pragma']]).toEqual(['no-store', 'no-cache']);
  });
});

describe('header "Authorization: Bearer <ACCESS_TOKEN>" [profile]', () => {
  test('is accepted with the scheme in any case', async () => {
    const token = String((await tokensOf()).access_token);
    expect((await askProfile({ headers: { authorization: `bearer ${token}` } })).status).toBe(200);
  });

  test('is required: a missing one gets 401 and a challenge without an error (RFC 6750 3.1)', async () => {
    const { status, headers } = await askProfile();
    expect([status, headers['www-authenticate']]).toEqual([401, 'Bearer realm="sign-in"']);
  });

  test.each([
    'Bearer made-up',
    'Bearer',
    'Bearer a b',
    'Basic cGFybGV5OnRoZS1zZWNyZXQ=',
    `Bearer ${'x'.repeat(6_000)}`,
  ])('with %.30s gets 401 invalid_token', async (authorization) => {
    const { status, headers, body } = await askProfile({ headers: { authorization } });
    expect([status, headers['www-authenticate']]).toEqual([401, 'Bearer realm="sign-in", error="invalid_token"']);
    expect(JSON.parse(body)).toEqual({ error: 'invalid_token', error_description: expect.any(String) });
  });

  test('does not accept a refresh token or a code', async () => {
    const code = await obtainCode(service);
    expect((await getProfile(service, code)).status).toBe(401);
    const { body } = await exchange(service, code);
    expect((await getProfile(service, body.refresh_token)).status).toBe(401);
  });

  test('cannot be replaced by a token in the address, which is refused next to one in the header [secrets-stay-inside]', async () => {
    const token = String((await tokensOf()).access_token);
    const query = `?access_token=${token}`;
    expect((await askProfile({ query })).status).toBe(401);
    const both = await askProfile({ query, headers: { authorization: `Bearer ${token}` } });
    expect([both.status, JSON.parse(both.body)]).toMatchObject([400, { error: 'invalid_request' }]);
  });

  test('returns the same headers without a body for HEAD', async () => {
    const headers = { authorization: `Bearer ${String((await tokensOf()).access_token)}` };
    const answer = await askProfile({ method: 'HEAD', headers });
    expect([answer.status, answer.body]).toEqual([200, '']);
  });

  test.each(['POST', 'DELETE'] as const)('is not accepted with %s, which gets 405 that names GET', async (method) => {
    const { status, headers } = await askProfile({ method });
    expect([status, headers['allow']]).toEqual([405, 'GET, HEAD']);
  });
});

describe('active "whether the account is activated", and former members [profile]', () => {
  const withDirectory = (people: object[]) =>
    startTestService(server.redis, {
      directory: parseDirectoryFile(JSON.stringify(people), { allowPlainPasswords: true }),
      keyRing,
    });
  const [zhangwei, alice] = PEOPLE as [{ profile: object }, object];

  test('active: false is shown in the profile, also for earlier tokens, which stay valid', async () => {
    const before = await withDirectory(PEOPLE);
    const tokens = await tokensOf(before);
    await before.close();
    const after = await withDirectory([{ ...zhangwei, profile: { ...zhangwei.profile, active: false } }, alice]);
    expect((await getProfile(after, tokens.access_token)).body.active).toBe(false);
    const form = { grant_type: 'refresh_token', refresh_token: String(tokens.refresh_token) };
    const refreshed = await exchange(after, '', form);
    expect((await getProfile(after, refreshed.body.access_token)).body.active).toBe(false);
    expect((await getProfile(after, (await tokensOf(after)).access_token)).body.active).toBe(false);
    await after.close();
  });

  test('a person removed from the directory gets invalid_grant for codes and refresh tokens, and 401 for the profile', async () => {
    const before = await withDirectory(PEOPLE);
    const tokens = await tokensOf(before);
    const code = await obtainCode(before);
    await before.close();
    const after = await withDirectory([alice]);
    const form = { grant_type: 'refresh_token', refresh_token: String(tokens.refresh_token) };
    expect((await exchange(after, '', form)).body.error).toBe('invalid_grant');
    expect((await exchange(after, code)).body.error).toBe('invalid_grant');
    expect((await getProfile(after, tokens.access_token)).status).toBe(401);
    await after.close();
  });
});

describe('logout [sign-out]', () => {
  const signedIn = async () => {
    const browser = new Browser(service.url);
    await obtainAnswer(browser);
    return browser;
  };
  const isSignedIn = async (browser: Browser) => !(await browser.get(authorizePath())).body.includes('name="password"');

  test('"GET {auth_url}/logout": ends the session, including copied cookies, and confirms it [sign-out]', async () => {
    const browser = await signedIn();
    const copied = new Map(browser.cookies);
    const page = await browser.get('/logout');
    expect([page.statusCode, page.body.includes('You are signed out')]).toEqual([200, true]);
    // The cookie of a known browser names no person in readable form and gives no access.
    expect([...browser.cookies.keys()]).toEqual(['__Host-svc-devices']);
    for (const [name, value] of copied) browser.cookies.set(name, value);
    expect(await isSignedIn(browser)).toBe(false);
  });

  const AGAIN = /<a class="button[^"]*" href="(\/sign-in\?[^"]+)"/;
  /** The target of the page's button "sign in again". */
  const againOn = ({ body }: { body: string }) => AGAIN.exec(body)?.[1]?.replaceAll('&amp;', '&');
  const logOutFor = (browser: Browser, target: string) => browser.get(`/logout?service=${encodeURIComponent(target)}`);

  test.each([CALLBACK, 'http://127.0.0.1:9/with?x=1'])(
    'service "address to go to after re-login, normally the application\'s callback address": %s is reached after signing in again, not before [sign-out]',
    async (target) => {
      const browser = await signedIn();
      const page = await logOutFor(browser, target);
      expect([page.statusCode, page.headers.location]).toEqual([200, undefined]);
      expect(page.body).toContain('You are signed out');
      expect(await isSignedIn(browser)).toBe(false);
      const login = await browser.get(againOn(page) ?? 'no button');
      expect([login.statusCode, login.body.includes('Sign in to continue to Parley bot.')]).toEqual([200, true]);
      expect(login.body).not.toContain('Next you choose');
      // Chromium applies this directive to the redirects that follow a form.
      expect(login.headers['content-security-policy']).toContain("form-action 'self' http://127.0.0.1:9;");
      const onwards = await browser.submit(login, { username: 'alice', password: 'alice-pass' });
      const away = await browser.follow(onwards);
      expect([onwards.statusCode, away.statusCode, away.headers.location]).toEqual([303, 302, target]);
      expect(await isSignedIn(browser)).toBe(true);
    },
  );

  test('service: a person who is not signed in, or signs in wrongly, does not reach the address [sign-out]', async () => {
    const browser = await signedIn();
    const again = againOn(await logOutFor(browser, CALLBACK)) ?? '';
    const onwards = new URL(again, service.url).searchParams.get('return_to') ?? '';
    const asked = await browser.get(onwards);
    expect([asked.statusCode, asked.body.includes('name="password"')]).toEqual([200, true]);
    const wrong = await browser.submit(await browser.get(again), { username: 'alice', password: 'wrong' });
    expect([wrong.statusCode, wrong.headers.location]).toEqual([401, undefined]);
    const right = await browser.submit(wrong, { username: 'alice', password: 'alice-pass' });
    expect((await browser.follow(right)).headers.location).toBe(CALLBACK);
  });

  const strangers = [
    'https://evil.example/',
    '//evil.example',
    `${CALLBACK}/`,
    `${CALLBACK}?next=https://evil.example`,
    '/account',
    '',
    'javascript:alert(1)',
  ];
  test.each(strangers)(
    'service: %j is not a valid address, and the person is signed out anyway [sign-out]',
    async (target) => {
      const browser = await signedIn();
      const page = await logOutFor(browser, target);
      expect([page.statusCode, page.headers.location, againOn(page)]).toEqual([200, undefined, undefined]);
      expect(await isSignedIn(browser)).toBe(false);
    },
  );

  test.each(strangers)('a forged %j after signing in again is refused [sign-out]', async (target) => {
    const made = `/sign-in/return?${new URLSearchParams({ service: target }).toString()}`;
    for (const browser of [await signedIn(), new Browser(service.url)]) {
      const answer = await browser.get(made);
      expect([answer.statusCode, answer.headers.location]).toEqual([400, undefined]);
      const login = await browser.get(`/sign-in?${new URLSearchParams({ return_to: made }).toString()}`);
      expect(login.headers['content-security-policy']).toContain("form-action 'self';");
    }
  });

  test('service: a repeated one is not a valid address [sign-out]', async () => {
    const twice = `service=${encodeURIComponent(CALLBACK)}&service=${encodeURIComponent(CALLBACK)}`;
    const page = await (await signedIn()).get(`/logout?${twice}`);
    expect([page.statusCode, page.headers.location, againOn(page)]).toEqual([200, undefined, undefined]);
    expect((await (await signedIn()).get(`/sign-in/return?${twice}`)).statusCode).toBe(400);
  });

  test('shows its page in Chinese too', async () => {
    const browser = new Browser(service.url, { 'accept-language': 'zh-CN' });
    const page = await logOutFor(browser, CALLBACK);
    expect(page.body).toContain('你已退出登录');
    expect(page.body).toContain('重新登录');
  });

  test('does nothing on HEAD', async () => {
    const browser = await signedIn();
    const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await got.head(`${service.url}/logout`, { headers: { cookie } });
    expect([answer.statusCode, answer.headers['set-cookie']]).toEqual([200, undefined]);
    expect(await isSignedIn(browser)).toBe(true);
  });

  test('"transitions after issue: not shown": logout ends the session, and tokens stay valid [authorization-code]', async () => {
    const browser = new Browser(service.url);
    const { body } = await exchange(service, (await obtainAnswer(browser)).get('code') ?? '');
    await browser.get('/logout');
    expect((await getProfile(service, body.access_token)).status).toBe(200);
  });
});
