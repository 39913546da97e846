import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { OidcSignIn } from '../../src/service/oauth/methods/oidc-sign-in.ts';
import { startTestRedis, type TestRedis } from '../support/redis.ts';
import { startHostileProvider, type HostileProvider, type Mischief } from './hostile-oidc-provider.ts';
import { authorizePath, Browser, startTestService, type TestService } from './support.ts';

let server: TestRedis;
let provider: HostileProvider;
let service: TestService;

function connect(url = provider.url, profileMap: ConstructorParameters<typeof OidcSignIn>[0]['profileMap'] = {}) {
  const client = { clientId: 'campus-chat', clientSecret: 'oidc-client-secret', scope: 'openid profile' };
  const signIn = new OidcSignIn({ issuer: url, ...client, profileMap });
  return startTestService(server.redis, { directory: [], institution: { signIn } });
}

beforeAll(async () => {
  [server, provider] = await Promise.all([startTestRedis(), startHostileProvider()]);
  service = await connect();
});
beforeEach(() => {
  provider.mischief = {};
  provider.calls = [];
});
afterAll(async () => {
  await Promise.all([service.close(), provider.close()]);
  await server.stop();
});

async function leave(browser: Browser): Promise<string> {
  return (await browser.get(authorizePath())).headers.location ?? 'missing:';
}

function hasSession(browser: Browser): boolean {
  return browser.cookies.has('__Host-svc-session');
}

describe('invalid OpenID Connect responses, which create no session', () => {
  test('are the only cause of a refusal: a correct stand-in provider signs the person in', async () => {
    const browser = new Browser(service.url);
    const back = await browser.get(provider.comeBack(await leave(browser)));
    expect([back.statusCode, back.headers['referrer-policy'], hasSession(browser)]).toEqual([303, 'no-referrer', true]);
    expect((await browser.follow(back)).body).toContain('Li Lei');
  });

  const forgeries: [string, Mischief][] = [
    ['signed by another key', { signedBy: 'foreign' }],
    ['without a signature (alg none)', { signedBy: 'nobody' }],
    ['with an unknown key id', { header: { kid: 'k2' } }],
    ['for another audience', { claims: { aud: 'another-client' } }],
    ['of another issuer', { claims: { iss: 'https://elsewhere.example' } }],
    ['with another nonce', { claims: { nonce: 'replayed' } }],
    ['without a nonce', { claims: { nonce: undefined } }],
    ['that has expired', { claims: { exp: 1_000 } }],
    ['without a subject', { claims: { sub: undefined } }],
    ['with another subject in userinfo', { userInfo: { sub: 'mallory' } }],
  ];
  test.each(forgeries)('include an id token %s', async (_, mischief) => {
    provider.mischief = mischief;
    const browser = new Browser(service.url);
    const page = await browser.get(provider.comeBack(await leave(browser)));
    expect([page.statusCode, hasSession(browser)]).toEqual([502, false]);
    expect(page.body).toContain(`href="${authorizePath().replaceAll('&', '&amp;')}"`);
  });

  const HTML = { type: 'text/html', body: '<h1>Maintenance</h1>' };
  const faults: [string, Mischief][] = [
    ['HTML from the token endpoint', { answers: { '/token': HTML } }],
    [
      'an error from the token endpoint',
      { answers: { '/token': { status: 401, body: '{"error":"invalid_client"}' } } },
    ],
    ['a 500 from userinfo', { answers: { '/me': { status: 500, body: '' } } }],
    ['a redirect from the token endpoint', { answers: { '/token': { status: 302, body: '', location: '/token2' } } }],
    ['a huge response', { answers: { '/me': { body: `{"sub":"li","x":"${'x'.repeat(300_000)}"}` } } }],
    ['a missing key set', { answers: { '/jwks': { status: 404, body: '' } } }],
  ];
  test.each(faults)('include %s, which leads to a page with a button', async (_, mischief) => {
    const fresh = await connect();
    provider.mischief = mischief;
    const browser = new Browser(fresh.url);
    const page = await browser.get(provider.comeBack(await leave(browser)));
    expect([page.statusCode, hasSession(browser)]).toEqual([502, false]);
    expect(page.body).not.toMatch(/Maintenance|invalid_client/);
    await fresh.close();
  });

  test.each([
    ['away', { answers: { '/.well-known/openid-configuration': { status: 503, body: '' } } }],
    ['answering HTML', { answers: { '/.well-known/openid-configuration': HTML } }],
    [
      'reporting another issuer',
      { answers: { '/.well-known/openid-configuration': { body: '{"issuer":"https://other.example"}' } } },
    ],
  ])('cause a 502 page while the provider is %s, and sign-in works once it is back', async (_, mischief) => {
    const fresh = await connect();
    provider.mischief = mischief;
    const browser = new Browser(fresh.url);
    expect((await browser.get(authorizePath())).statusCode).toBe(502);
    provider.mischief = {};
    expect((await browser.get(provider.comeBack(await leave(browser)))).statusCode).toBe(303);
    await fresh.close();
  });

  test('include none at all: the provider is abandoned after 5 s, also if the port is closed [code-used-once]', async () => {
    const fresh = await connect();
    provider.mischief = { answers: { '/.well-known/openid-configuration': { body: '{}', delayMs: 20_000 } } };
    const startedMs = performance.now();
    expect((await new Browser(fresh.url).get(authorizePath())).statusCode).toBe(502);
    expect(performance.now() - startedMs).toBeLessThan(15_000);
    const nobody = await connect('http://127.0.0.1:9');
    expect((await new Browser(nobody.url).get(authorizePath())).statusCode).toBe(502);
    await Promise.all([fresh.close(), nobody.close()]);
  });
});

describe('the return from the provider [plain-callbacks] [state-by-mode]', () => {
  test.each([
    ['with another state', (url: URL) => url.searchParams.set('state', 'f'.repeat(64))],
    ['without a state', (url: URL) => url.searchParams.delete('state')],
    ['with the state twice', (url: URL) => url.searchParams.append('state', url.searchParams.get('state') ?? '')],
    ['with an overlong code', (url: URL) => url.searchParams.set('code', 'x'.repeat(4_097))],
  ])('%s is refused without a call to the provider', async (_, change) => {
    const browser = new Browser(service.url);
    const back = new URL(provider.comeBack(await leave(browser)));
    change(back);
    provider.calls = [];
    expect((await browser.get(back.href)).statusCode).toBe(400);
    expect([provider.calls, hasSession(browser)]).toEqual([[], false]);
  });

  test.each([
    ['of another issuer', (url: URL) => url.searchParams.set('iss', 'https://elsewhere.example')],
    ['without its code', (url: URL) => url.searchParams.delete('code')],
    ['with an unknown code', (url: URL) => url.searchParams.set('code', 'made-up')],
  ])('%s causes 502 and no session', async (_, change) => {
    const browser = new Browser(service.url);
    const back = new URL(provider.comeBack(await leave(browser)));
    change(back);
    expect([(await browser.get(back.href)).statusCode, hasSession(browser)]).toEqual([502, false]);
  });

  test('keeps the error text of the provider out of page and log', async () => {
    const browser = new Browser(service.url);
    const back = new URL(provider.comeBack(await leave(browser)));
    back.searchParams.delete('code');
    back.searchParams.set('error', 'server_error');
    back.searchParams.set('error_description', 'call-0900-now');
    const page = await browser.get(back.href);
    expect(page.statusCode).toBe(502);
    expect(`${page.body}${service.logLines.join('\n')}`).not.toMatch(/call-0900/);
  });

  test('works once, in the browser that left, for five minutes, and only for its own provider', async () => {
    const browser = new Browser(service.url);
    const first = provider.comeBack(await leave(browser));
    const stranger = new Browser(service.url);
    await leave(stranger);
    // Not even with the sign-in cookie of the other browser.
    for (const [name, value] of browser.cookies) if (name.includes('trip')) stranger.cookies.set(name, value);
    expect((await stranger.get(first)).statusCode).toBe(400);
    // The attempt of another browser did not use the address up.
    const cookies = new Map(browser.cookies);
    expect((await browser.get(first)).statusCode).toBe(303);
    browser.cookies.clear();
    for (const [name, value] of cookies) browser.cookies.set(name, value);
    expect((await browser.get(first)).statusCode).toBe(400);
    const other = new Browser(service.url);
    const third = provider.comeBack(await leave(other));
    expect((await other.get(third.replace('/oidc/', '/wecom/'))).statusCode).toBe(404);
    service.clock.ms += 5 * 60_000;
    expect((await other.get(third)).statusCode).toBe(400);
    service.clock.ms -= 1;
    expect((await other.get(third)).statusCode).toBe(303);
  });

  test('supports several concurrent sign-ins of a browser, and keeps the newest of many', async () => {
    const browser = new Browser(service.url);
    const long = { state: 's'.repeat(900) };
    const trips: string[] = [];
    for (let count = 0; count < 5; count += 1) {
      service.clock.ms += 1;
      trips.push(provider.comeBack((await browser.get(authorizePath(long))).headers.location ?? ''));
    }
    expect([...browser.cookies.keys()].filter((name) => name.includes('trip'))).toHaveLength(2);
    expect((await browser.get(trips[2] ?? '')).statusCode).toBe(400);
    const cookies = new Map(browser.cookies);
    for (const trip of trips.slice(3)) {
      for (const [name, value] of cookies) browser.cookies.set(name, value);
      expect((await browser.get(trip)).statusCode).toBe(303);
    }
  });

  test('is refused before the redirect if its address does not fit a cookie', async () => {
    const browser = new Browser(service.url);
    const page = await browser.get(authorizePath({ state: '%'.repeat(2_000) }));
    expect([page.statusCode, page.headers.location]).toEqual([400, undefined]);
  });

  test('is not changed by a HEAD request', async () => {
    const browser = new Browser(service.url);
    const back = provider.comeBack(await leave(browser));
    expect((await fetch(back, { method: 'HEAD', redirect: 'manual' })).status).toBe(200);
    expect((await browser.get(back)).statusCode).toBe(303);
  });
});

test('a mapped claim that the provider does not send leads to a page, and the log names the profile field', async () => {
  const fresh = await connect(provider.url, { BMMC: ['dept'] });
  const browser = new Browser(fresh.url);
  const page = await browser.get(provider.comeBack(await leave(browser)));
  expect([page.statusCode, hasSession(browser)]).toEqual([403, false]);
  expect(page.body).toContain('Your account lacks required information');
  expect(fresh.logLines.join('\n')).toContain('The claims contain no usable BMMC');
  await fresh.close();
});
