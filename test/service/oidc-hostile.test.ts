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

describe('OpenID Connect: what is not in order signs nobody in', () => {
  test('a stand-in that does everything right signs in (so that the refusals below mean something)', async () => {
    const browser = new Browser(service.url);
    const back = await browser.get(provider.comeBack(await leave(browser)));
    expect([back.statusCode, back.headers['referrer-policy'], hasSession(browser)]).toEqual([303, 'no-referrer', true]);
    expect((await browser.follow(back)).body).toContain('Li Lei');
  });

  const forgeries: [string, Mischief][] = [
    ['signed by a foreign key', { signedBy: 'foreign' }],
    ['signed by nobody (alg none)', { signedBy: 'nobody' }],
    ['of an unknown key', { header: { kid: 'k2' } }],
    ['for another audience', { claims: { aud: 'another-client' } }],
    ['of another issuer', { claims: { iss: 'https://elsewhere.example' } }],
    ['with another nonce', { claims: { nonce: 'replayed' } }],
    ['without a nonce', { claims: { nonce: undefined } }],
    ['that expired', { claims: { exp: 1_000 } }],
    ['without a subject', { claims: { sub: undefined } }],
    ['whose userinfo is of another subject', { userInfo: { sub: 'mallory' } }],
  ];
  test.each(forgeries)('an id token %s', async (_, mischief) => {
    provider.mischief = mischief;
    const browser = new Browser(service.url);
    const page = await browser.get(provider.comeBack(await leave(browser)));
    expect([page.statusCode, hasSession(browser)]).toEqual([502, false]);
    expect(page.body).toContain(`href="${authorizePath().replaceAll('&', '&amp;')}"`);
  });

  const HTML = { type: 'text/html', body: '<h1>Maintenance</h1>' };
  const faults: [string, Mischief][] = [
    ['HTML from the token address', { answers: { '/token': HTML } }],
    ['an error from the token address', { answers: { '/token': { status: 401, body: '{"error":"invalid_client"}' } } }],
    ['a 500 from userinfo', { answers: { '/me': { status: 500, body: '' } } }],
    ['a redirect from the token address', { answers: { '/token': { status: 302, body: '', location: '/token2' } } }],
    ['a huge answer', { answers: { '/me': { body: `{"sub":"li","x":"${'x'.repeat(300_000)}"}` } } }],
    ['no key set', { answers: { '/jwks': { status: 404, body: '' } } }],
  ];
  test.each(faults)('%s leads to a page with a button', async (_, mischief) => {
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
      'of another name',
      { answers: { '/.well-known/openid-configuration': { body: '{"issuer":"https://other.example"}' } } },
    ],
  ])('the service starts while the provider is %s, says so, and goes on once it is back', async (_, mischief) => {
    const fresh = await connect();
    provider.mischief = mischief;
    const browser = new Browser(fresh.url);
    expect((await browser.get(authorizePath())).statusCode).toBe(502);
    provider.mischief = {};
    expect((await browser.get(provider.comeBack(await leave(browser)))).statusCode).toBe(303);
    await fresh.close();
  });

  test('a provider that does not answer is given up after 5 s, also when nobody listens [code-used-once]', async () => {
    const fresh = await connect();
    provider.mischief = { answers: { '/.well-known/openid-configuration': { body: '{}', delayMs: 20_000 } } };
    const startedMs = performance.now();
    expect((await new Browser(fresh.url).get(authorizePath())).statusCode).toBe(502);
    expect(performance.now() - startedMs).toBeLessThan(6_500);
    const nobody = await connect('http://127.0.0.1:9');
    expect((await new Browser(nobody.url).get(authorizePath())).statusCode).toBe(502);
    await Promise.all([fresh.close(), nobody.close()]);
  }, 15_000);
});

describe('the return [plain-callbacks] [state-by-mode]', () => {
  test.each([
    ['with another state', (url: URL) => url.searchParams.set('state', 'f'.repeat(64))],
    ['without a state', (url: URL) => url.searchParams.delete('state')],
    ['with the state twice', (url: URL) => url.searchParams.append('state', url.searchParams.get('state') ?? '')],
    ['with an over-long code', (url: URL) => url.searchParams.set('code', 'x'.repeat(4_097))],
  ])('%s is refused before the provider is asked', async (_, change) => {
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
    ['with a made-up code', (url: URL) => url.searchParams.set('code', 'made-up')],
  ])('%s signs nobody in', async (_, change) => {
    const browser = new Browser(service.url);
    const back = new URL(provider.comeBack(await leave(browser)));
    change(back);
    expect([(await browser.get(back.href)).statusCode, hasSession(browser)]).toEqual([502, false]);
  });

  test("an error's own words reach neither page nor log", async () => {
    const browser = new Browser(service.url);
    const back = new URL(provider.comeBack(await leave(browser)));
    back.searchParams.delete('code');
    back.searchParams.set('error', 'server_error');
    back.searchParams.set('error_description', 'call-0900-now');
    const page = await browser.get(back.href);
    expect(page.statusCode).toBe(502);
    expect(`${page.body}${service.logLines.join('\n')}`).not.toMatch(/0900/);
  });

  test('works once, in the browser that left, for five minutes, and by its own way', async () => {
    const browser = new Browser(service.url);
    const first = provider.comeBack(await leave(browser));
    const stranger = new Browser(service.url);
    await leave(stranger);
    // Not even with the other's trip.
    for (const [name, value] of browser.cookies) if (name.includes('trip')) stranger.cookies.set(name, value);
    expect((await stranger.get(first)).statusCode).toBe(400);
    // Whoever learned the address has not used it up.
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

  test('a browser may be on several trips, and keeps the newest where they are many', async () => {
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

  test('an address to return to that no cookie can hold is refused before anybody leaves', async () => {
    const browser = new Browser(service.url);
    const page = await browser.get(authorizePath({ state: '%'.repeat(2_000) }));
    expect([page.statusCode, page.headers.location]).toEqual([400, undefined]);
  });

  test('a HEAD changes nothing', async () => {
    const browser = new Browser(service.url);
    const back = provider.comeBack(await leave(browser));
    expect((await fetch(back, { method: 'HEAD', redirect: 'manual' })).status).toBe(200);
    expect((await browser.get(back)).statusCode).toBe(303);
  });
});

test('a claim that the map names and the provider does not give leads to a page, and the log names the part', async () => {
  const fresh = await connect(provider.url, { BMMC: ['dept'] });
  const browser = new Browser(fresh.url);
  const page = await browser.get(provider.comeBack(await leave(browser)));
  expect([page.statusCode, hasSession(browser)]).toEqual([403, false]);
  expect(page.body).toContain('Your account lacks something');
  expect(fresh.logLines.join('\n')).toContain('The claims give no usable BMMC');
  await fresh.close();
});
