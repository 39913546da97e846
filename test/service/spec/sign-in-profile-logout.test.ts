import { randomBytes } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { got, type Method } from 'got';
import { KeyRing } from '../../../src/base/key-ring.ts';
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

/** Shared, so that a service that starts again reads what the one before it sealed. */
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

describe('user profile (4.4) [profile]', () => {
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

  test('client_id: the application that the token was given to [profile]', async () => {
    const parameters = { client_id: 'other', redirect_uri: 'http://127.0.0.1:9/other' };
    const { body } = await exchange(service, await obtainCode(service, parameters), {
      ...parameters,
      client_secret: 'other-secret',
    });
    expect((await getProfile(service, body.access_token)).body.client_id).toBe('other');
  });

  test('"response: user profile, JSON": these fields and no others, not to be stored [profile]', async () => {
    const answer = await getProfile(service, (await tokensOf()).access_token);
    expect(Object.keys(answer.body).sort()).toEqual(['active', 'attributes', 'client_id', 'id', 'parentIdentityInfo']);
    expect(answer.headers['content-type']).toMatch(/^application\/json/);
    expect([answer.headers['cache-control'], answer.headers['pragma']]).toEqual(['no-store', 'no-cache']);
  });
});

describe('header "Authorization: Bearer <ACCESS_TOKEN>" [profile]', () => {
  test('the scheme is read in any case', async () => {
    const token = String((await tokensOf()).access_token);
    expect((await askProfile({ headers: { authorization: `bearer ${token}` } })).status).toBe(200);
  });

  test('without one: 401 and a challenge that names no error (RFC 6750 3.1)', async () => {
    const { status, headers } = await askProfile();
    expect([status, headers['www-authenticate']]).toEqual([401, 'Bearer realm="sign-in"']);
  });

  test.each([
    'Bearer made-up',
    'Bearer',
    'Bearer a b',
    'Basic cGFybGV5OnRoZS1zZWNyZXQ=',
    `Bearer ${'x'.repeat(6_000)}`,
  ])('with %.30s: 401 invalid_token', async (authorization) => {
    const { status, headers, body } = await askProfile({ headers: { authorization } });
    expect([status, headers['www-authenticate']]).toEqual([401, 'Bearer realm="sign-in", error="invalid_token"']);
    expect(JSON.parse(body)).toEqual({ error: 'invalid_token', error_description: expect.any(String) });
  });

  test('a refresh token or a code is no access token', async () => {
    const code = await obtainCode(service);
    expect((await getProfile(service, code)).status).toBe(401);
    const { body } = await exchange(service, code);
    expect((await getProfile(service, body.refresh_token)).status).toBe(401);
  });

  test('a token in the address counts for nothing, and beside one in the header it is refused [secrets-stay-inside]', async () => {
    const token = String((await tokensOf()).access_token);
    const query = `?access_token=${token}`;
    expect((await askProfile({ query })).status).toBe(401);
    const both = await askProfile({ query, headers: { authorization: `Bearer ${token}` } });
    expect([both.status, JSON.parse(both.body)]).toMatchObject([400, { error: 'invalid_request' }]);
  });

  test('HEAD answers the same headers without a body', async () => {
    const headers = { authorization: `Bearer ${String((await tokensOf()).access_token)}` };
    const answer = await askProfile({ method: 'HEAD', headers });
    expect([answer.status, answer.body]).toEqual([200, '']);
  });

  test.each(['POST', 'DELETE'] as const)('%s is 405 and names GET', async (method) => {
    const { status, headers } = await askProfile({ method });
    expect([status, headers['allow']]).toEqual([405, 'GET, HEAD']);
  });
});

describe('active "whether the account is activated", and people who left [profile]', () => {
  const withDirectory = (people: object[]) =>
    startTestService(server.redis, {
      directory: parseDirectoryFile(JSON.stringify(people), { allowPlainPasswords: true }),
      keyRing,
    });
  const [zhangwei, alice] = PEOPLE as [{ profile: object }, object];

  test('active: false is told by the profile, for tokens from before too, which go on', async () => {
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

  test('somebody who was taken out of the directory: codes and refresh tokens are invalid_grant, the profile is 401', async () => {
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

  test('"GET {auth_url}/logout": ends the session, a copied cookie included, and says so [sign-out]', async () => {
    const browser = await signedIn();
    const copied = new Map(browser.cookies);
    const page = await browser.get('/logout');
    expect([page.statusCode, page.body.includes('You are signed out')]).toEqual([200, true]);
    // The mark of a browser that signed in before names nobody to it and opens nothing.
    expect([...browser.cookies.keys()]).toEqual(['__Host-svc-devices']);
    for (const [name, value] of copied) browser.cookies.set(name, value);
    expect(await isSignedIn(browser)).toBe(false);
  });

  test('service "address to go to after re-login, normally the application\'s callback address": registered ones only [sign-out]', async () => {
    const browser = await signedIn();
    const answer = await browser.get(`/logout?service=${encodeURIComponent(CALLBACK)}`);
    expect([answer.statusCode, answer.headers.location]).toEqual([302, CALLBACK]);
    expect(await isSignedIn(browser)).toBe(false);
  });

  test.each([
    'https://evil.example/',
    '//evil.example',
    `${CALLBACK}/`,
    `${CALLBACK}?next=https://evil.example`,
    '/account',
    '',
    'javascript:alert(1)',
  ])('service: %j is not followed, the person is signed out all the same [sign-out]', async (target) => {
    const browser = await signedIn();
    const answer = await browser.get(`/logout?service=${encodeURIComponent(target)}`);
    expect([answer.statusCode, answer.headers.location]).toEqual([200, undefined]);
    expect(await isSignedIn(browser)).toBe(false);
  });

  test('service: a repeated one is not followed [sign-out]', async () => {
    const target = encodeURIComponent(CALLBACK);
    const answer = await new Browser(service.url).get(`/logout?service=${target}&service=${target}`);
    expect([answer.statusCode, answer.headers.location]).toEqual([200, undefined]);
  });

  test('HEAD only looks', async () => {
    const browser = await signedIn();
    const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await got.head(`${service.url}/logout`, { headers: { cookie } });
    expect([answer.statusCode, answer.headers['set-cookie']]).toEqual([200, undefined]);
    expect(await isSignedIn(browser)).toBe(true);
  });

  test('"transitions after issue: not shown": logout ends the session, tokens live on [authorization-code]', async () => {
    const browser = new Browser(service.url);
    const { body } = await exchange(service, (await obtainAnswer(browser)).get('code') ?? '');
    await browser.get('/logout');
    expect((await getProfile(service, body.access_token)).status).toBe(200);
  });
});
