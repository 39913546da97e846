import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { got } from 'got';
import { startTestRedis, type TestRedis } from '../support/redis.ts';
import {
  authorizePath,
  Browser,
  CALLBACK,
  exchange,
  getProfile,
  obtainAnswer,
  obtainCode,
  postToken,
  startTestService,
  type TestService,
} from './support.ts';

let server: TestRedis;
let service: TestService;

beforeAll(async () => {
  server = await startTestRedis();
  service = await startTestService(server.redis);
});
afterAll(async () => {
  await service.close();
  await server.stop();
});

describe('authorize (4.2) and the pages', () => {
  test('log in, consent, and the browser comes back with code and state', async () => {
    const answer = await obtainAnswer(new Browser(service.url), { state: 'a+b &ü' });
    expect(answer.get('state')).toBe('a+b &ü');
    expect(answer.get('code')).toMatch(/^[\w-]{43}$/);
  });

  test('the code is appended to a redirect address that has a query', async () => {
    const browser = new Browser(service.url);
    const answer = await obtainAnswer(browser, { redirect_uri: 'http://127.0.0.1:9/with?x=1' });
    expect([...answer.keys()]).toEqual(['x', 'code']);
  });

  test.each([
    ['an unknown client', { client_id: 'nobody' }],
    ['an unknown redirect address', { redirect_uri: `${CALLBACK}/` }],
    ["another client's redirect address", { redirect_uri: 'http://127.0.0.1:9/other' }],
  ])('%s gets a 4xx page, never a redirect', async (_, parameters) => {
    const answer = await new Browser(service.url).get(authorizePath(parameters));
    expect(answer.statusCode).toBe(400);
    expect(answer.headers.location).toBeUndefined();
    expect(answer.headers['content-type']).toContain('text/html');
  });

  test('a repeated parameter gets a 4xx page', async () => {
    const answer = await new Browser(service.url).get(`${authorizePath()}&client_id=parley`);
    expect([answer.statusCode, answer.headers.location]).toEqual([400, undefined]);
  });

  test.each([
    ['unsupported_response_type', { response_type: 'token' }],
    ['invalid_scope', { scope: 'everything' }],
    ['invalid_request', { code_challenge: 'x'.repeat(43), code_challenge_method: 'plain' }],
    ['invalid_request', { code_challenge: 'x'.repeat(43) }],
  ])('%s goes back to the client with its state', async (error, parameters) => {
    const answer = await new Browser(service.url).get(authorizePath({ state: 's1', ...parameters }));
    expect(answer.headers.location).toBe(`${CALLBACK}?${new URLSearchParams({ error, state: 's1' }).toString()}`);
  });

  test('deny goes back with access_denied and state', async () => {
    const browser = new Browser(service.url);
    const signedIn = await browser.submit(await browser.get(authorizePath({ state: 's2' })), {
      username: 'alice',
      password: 'alice-pass',
    });
    const back = await browser.submit(await browser.follow(signedIn), { decision: 'deny' });
    expect(back.statusCode).toBe(303);
    expect(back.headers.location).toBe(`${CALLBACK}?error=access_denied&state=s2`);
  });

  test('a second sign-in in the same browser asks for consent only', async () => {
    const browser = new Browser(service.url);
    await obtainAnswer(browser);
    const page = await browser.get(authorizePath());
    expect(page.body).toContain('name="decision"');
    expect(page.body).not.toContain('name="password"');
  });

  test('a remembered consent is not asked again, until it is withdrawn on the account page, which ends its tokens too', async () => {
    const browser = new Browser(service.url);
    const signedIn = await browser.submit(await browser.get(authorizePath()), {
      username: 'alice',
      password: 'alice-pass',
    });
    const back = await browser.submit(await browser.follow(signedIn), { decision: 'allow', remember: 'yes' });
    const { body } = await exchange(service, new URL(back.headers.location ?? '').searchParams.get('code') ?? '');
    const silent = await browser.get(authorizePath({ state: 's3' }));
    expect(silent.headers.location).toMatch(/\?code=[\w-]{43}&state=s3$/);
    const account = await browser.get('/account');
    expect(account.body).toContain('Parley bot');
    await browser.submit(account, {});
    expect((await browser.get(authorizePath())).body).toContain('name="decision"');
    expect((await getProfile(service, body.access_token)).status).toBe(401);
  });

  test('a wrong password is told and gives no session', async () => {
    const browser = new Browser(service.url);
    const answer = await browser.submit(await browser.get(authorizePath()), {
      username: 'zhangwei',
      password: 'guess',
    });
    expect(answer.statusCode).toBe(401);
    expect(answer.body).toContain('role="alert"');
    expect((await browser.get(authorizePath())).body).toContain('name="password"');
  });

  test('wrong passwords are throttled by name and address, a valid login never', async () => {
    const browser = new Browser(service.url);
    let page = await browser.get(authorizePath());
    const statuses: number[] = [];
    for (let count = 0; count < 12; count += 1) {
      page = await browser.submit(page, { username: 'alice', password: 'guess' });
      statuses.push(page.statusCode);
    }
    expect(statuses).toEqual([...Array<number>(10).fill(401), 429, 429]);
    expect(page.headers['retry-after']).toBe('600');
    expect((await browser.submit(page, { username: 'alice', password: 'alice-pass' })).statusCode).toBe(303);
  });
});

describe('security.md 1.4: headers and forms', () => {
  test('pages forbid framing, scripts and caching; form-action follows the redirect', async () => {
    const browser = new Browser(service.url);
    const login = await browser.get(authorizePath());
    const policy = login.headers['content-security-policy'];
    expect(policy).toBe(
      "default-src 'none'; style-src 'self'; img-src data:; form-action 'self' http://127.0.0.1:9; frame-ancestors 'none'; base-uri 'none'",
    );
    expect(login.headers).toMatchObject({
      'cache-control': 'no-store',
      'referrer-policy': 'same-origin',
      'x-content-type-options': 'nosniff',
    });
    expect(login.headers['set-cookie']?.[0]).toMatch(/^__Host-.*; Path=\/; Secure; HttpOnly; SameSite=Lax$/);
    const style = /href="(\/style[^"]+)"/.exec(login.body)?.[1] ?? '';
    expect((await browser.get(style)).headers['content-type']).toContain('text/css');
  });

  test.each([
    ['without the browser cookie', {}, false, {}],
    ['from another site by Origin', { origin: 'https://evil.example' }, true, {}],
    ['from another site by Sec-Fetch-Site', { 'sec-fetch-site': 'cross-site' }, true, {}],
    ['with a token of another browser', {}, true, { csrf: 'theirs' }],
    ['without a token', {}, true, { csrf: '' }],
  ])('a login form %s is refused with 403', async (_, headers, keepsCookie, changes: { csrf?: string }) => {
    const browser = new Browser(service.url);
    const tokenOf = (body: string) => /name="csrf" value="([^"]+)"/.exec(body)?.[1] ?? '';
    const csrf = tokenOf((await browser.get(authorizePath())).body);
    const theirs = tokenOf((await new Browser(service.url).get(authorizePath())).body);
    if (!keepsCookie) browser.cookies.clear();
    const sent = changes.csrf === 'theirs' ? theirs : (changes.csrf ?? csrf);
    const answer = await browser.post(
      '/oauth2.0/login',
      { csrf: sent, username: 'alice', password: 'alice-pass' },
      headers,
    );
    expect(answer.statusCode).toBe(403);
    expect(answer.headers['set-cookie']?.join() ?? '').not.toContain('session');
  });

  test('a form older than half an hour is refused', async () => {
    const browser = new Browser(service.url);
    const page = await browser.get(authorizePath());
    service.clock.ms += 31 * 60_000;
    expect((await browser.submit(page, { username: 'alice', password: 'alice-pass' })).statusCode).toBe(403);
  });

  test('a consent page of somebody who signed out meanwhile allows nothing', async () => {
    const browser = new Browser(service.url);
    const signedIn = await browser.submit(await browser.get(authorizePath()), {
      username: 'alice',
      password: 'alice-pass',
    });
    const consent = await browser.follow(signedIn);
    const session = '__Host-svc-session';
    browser.cookies.delete(session);
    const answer = await browser.submit(consent, { decision: 'allow' });
    expect(answer.headers.location).toBe(authorizePath());
  });

  test('a name with markup or disguising letters is shown as harmless text', async () => {
    const client = {
      clientId: 'odd',
      clientSecret: 's',
      name: '<script>x</script>\u202eevil',
      redirectUris: [CALLBACK],
    };
    const odd = await startTestService(server.redis, { clients: [client] });
    const page = await new Browser(odd.url).get(authorizePath({ client_id: 'odd' }));
    await odd.close();
    expect(page.body).toContain('&lt;script&gt;x&lt;/script&gt;evil');
    expect(page.body).not.toMatch(/<script|\u202e/);
  });

  test('pages speak the language of the reader', async () => {
    const page = await new Browser(service.url, { 'accept-language': 'zh-CN,zh;q=0.9' }).get(authorizePath());
    expect(page.body).toContain('<html lang="zh-CN">');
    expect(page.body).toContain('用户名');
  });

  test('the home page is kind, an unknown address is a 404 page', async () => {
    const browser = new Browser(service.url);
    expect((await browser.get('/')).body).toContain('chat and sign-in service');
    const missing = await browser.get('/nothing');
    expect([
      missing.statusCode,
      missing.headers['content-security-policy']?.includes("frame-ancestors 'none'"),
    ]).toEqual([404, true]);
  });
});

describe('code exchange (4.3) and the states of a code (section 3)', () => {
  test('a token response with its fields, not to be stored', async () => {
    const { status, body, headers } = await exchange(service, await obtainCode(service));
    expect(status).toBe(200);
    expect(body).toEqual({
      access_token: expect.stringMatching(/^[\w-]{43}$/),
      token_type: 'bearer',
      expires_in: 7_200,
      refresh_token: expect.stringMatching(/^[\w-]{43}$/),
    });
    expect(headers['cache-control']).toBe('no-store');
  });

  test.each([
    [9_999, 200],
    [10_000, 400],
    [11_000, 400],
  ])('a code of %d ms answers %d', async (ageMs, status) => {
    const code = await obtainCode(service);
    service.clock.ms += ageMs;
    expect((await exchange(service, code)).status).toBe(status);
  });

  test('of 12 exchanges at once exactly one succeeds, and the reuse revokes what it gave', async () => {
    const code = await obtainCode(service);
    const answers = await Promise.all(Array.from({ length: 12 }, () => exchange(service, code)));
    const [won, ...more] = answers.filter(({ status }) => status === 200);
    expect(more).toEqual([]);
    expect(answers.filter(({ body }) => body.error === 'invalid_grant')).toHaveLength(11);
    expect((await getProfile(service, won?.body.access_token)).status).toBe(401);
    const refreshed = await postToken(service, {
      grant_type: 'refresh_token',
      client_id: 'parley',
      client_secret: 'the-secret',
      refresh_token: String(won?.body.refresh_token),
    });
    expect(refreshed.body.error).toBe('invalid_grant');
  });

  test.each([
    ['invalid_client', 401, { client_secret: 'wrong' }],
    ['invalid_client', 401, { client_id: 'nobody' }],
    ['invalid_client', 401, { client_secret: '' }],
    ['invalid_grant', 400, { client_id: 'other', client_secret: 'other-secret' }],
    ['invalid_grant', 400, { redirect_uri: 'http://127.0.0.1:9/with?x=1' }],
    ['invalid_grant', 400, { code: 'made-up' }],
    ['invalid_grant', 400, { code_verifier: 'v'.repeat(43) }],
    ['invalid_request', 400, { redirect_uri: '' }],
    ['invalid_request', 400, { code: '' }],
    ['invalid_request', 400, { grant_type: '' }],
    ['unsupported_grant_type', 400, { grant_type: 'password' }],
  ])('%s with %d (RFC 6749 5.2): %j', async (error, status, changes) => {
    const answer = await exchange(service, await obtainCode(service), changes);
    expect([answer.status, answer.body.error]).toEqual([status, error]);
    expect(typeof answer.body.error_description).toBe('string');
    if (status === 401) expect(answer.headers['www-authenticate']).toBeDefined();
  });

  test('a wrong secret does not use the code up', async () => {
    const code = await obtainCode(service);
    await exchange(service, code, { client_secret: 'wrong' });
    expect((await exchange(service, code)).status).toBe(200);
  });

  test('a repeated field and a JSON body are invalid requests', async () => {
    for (const options of [
      { body: 'grant_type=a&grant_type=b', headers: { 'content-type': 'application/x-www-form-urlencoded' } },
      { json: { grant_type: 'authorization_code' } },
    ]) {
      const answer = await got.post(`${service.url}/oauth2.0/accessToken`, { ...options, throwHttpErrors: false });
      expect([answer.statusCode, (JSON.parse(answer.body) as { error: string }).error]).toEqual([
        400,
        'invalid_request',
      ]);
    }
  });

  test('PKCE S256: the right verifier passes, a wrong or missing one does not', async () => {
    const verifier = 'v'.repeat(50);
    const challenge = createHash('sha256').update(verifier).digest('base64url');
    const parameters = { code_challenge: challenge, code_challenge_method: 'S256' };
    expect((await exchange(service, await obtainCode(service, parameters), { code_verifier: verifier })).status).toBe(
      200,
    );
    expect(
      (await exchange(service, await obtainCode(service, parameters), { code_verifier: `${verifier}x` })).body.error,
    ).toBe('invalid_grant');
    expect((await exchange(service, await obtainCode(service, parameters))).body.error).toBe('invalid_grant');
  });
});

describe('profile (4.4), refresh (4.5) and logout (4.6)', () => {
  test('every field of the profile', async () => {
    const { body } = await exchange(service, await obtainCode(service));
    const profile = await getProfile(service, body.access_token);
    expect(profile.body).toEqual({
      id: '20190001',
      active: true,
      parentIdentityInfo: { name: '教职工', code: 'JG' },
      attributes: { BMBM: '101', BMMC: 'Library', XGH: '20190001', XM: '张伟', objectId: 'obj-20190001' },
      client_id: 'parley',
    });
  });

  test('401 with WWW-Authenticate without, with an unknown and with an expired token', async () => {
    const bare = await got(`${service.url}/oauth2.0/profile`, { throwHttpErrors: false });
    expect([bare.statusCode, bare.headers['www-authenticate']]).toEqual([401, 'Bearer realm="sign-in"']);
    const { body } = await exchange(service, await obtainCode(service));
    service.clock.ms += 7_200_000;
    for (const token of ['made-up', body.access_token]) {
      const answer = await getProfile(service, token);
      expect([answer.status, answer.headers['www-authenticate'], answer.body.error]).toEqual([
        401,
        'Bearer realm="sign-in", error="invalid_token"',
        'invalid_token',
      ]);
    }
  });

  test('a refresh gives a new access token and scope, and no new refresh token', async () => {
    const { body } = await exchange(service, await obtainCode(service));
    service.clock.ms += 8_000_000;
    const form = {
      grant_type: 'refresh_token',
      client_id: 'parley',
      client_secret: 'the-secret',
      refresh_token: String(body.refresh_token),
    };
    const refreshed = await postToken(service, form);
    expect(refreshed.body).toEqual({
      token_type: 'bearer',
      access_token: expect.stringMatching(/^[\w-]{43}$/),
      expires_in: 7_200,
      scope: 'SVC-Basic',
    });
    expect((await getProfile(service, refreshed.body.access_token)).status).toBe(200);
    expect((await postToken(service, { ...form, client_id: 'other', client_secret: 'other-secret' })).body.error).toBe(
      'invalid_grant',
    );
    expect((await postToken(service, { ...form, refresh_token: 'made-up' })).body.error).toBe('invalid_grant');
    service.clock.ms += 31 * 86_400_000;
    expect((await postToken(service, form)).body.error).toBe('invalid_grant');
  });

  test('logout ends the session and goes to registered addresses only', async () => {
    const browser = new Browser(service.url);
    await obtainAnswer(browser);
    const copied = new Map(browser.cookies);
    const strange = await browser.get('/logout?service=https%3A%2F%2Fevil.example%2F');
    expect([strange.statusCode, strange.headers.location]).toEqual([200, undefined]);
    for (const [name, value] of copied) browser.cookies.set(name, value);
    expect((await browser.get(authorizePath())).body).toContain('name="password"');
    expect((await browser.get(`/logout?service=${encodeURIComponent(CALLBACK)}`)).headers.location).toBe(CALLBACK);
  });

  test('nothing that was handed out lies readable in Redis or in the log', async () => {
    const browser = new Browser(service.url);
    const code = (await obtainAnswer(browser)).get('code') ?? '';
    const { body } = await exchange(service, code);
    const keys = await server.redis.keys('*');
    const values = await Promise.all(keys.map((key) => server.redis.dumpBuffer(key)));
    const stored =
      [...keys, ...values.map((value) => value.toString('latin1'))].join('\n') + service.logLines.join('\n');
    for (const secret of [
      code,
      body.access_token,
      body.refresh_token,
      ...browser.cookies.values(),
      'zhangwei-pass',
      'the-secret',
    ])
      expect(stored).not.toContain(secret);
    const lives = await Promise.all(keys.map((key) => server.redis.pttl(key)));
    expect(lives.every((ms) => ms > 0)).toBe(true);
  });
});
