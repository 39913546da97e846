import { expect, test } from '@jest/globals';
import { KeyRing } from '../../../src/shared/crypto/key-ring.ts';
import { connectRedis } from '../../../src/shared/redis/redis.ts';
import { createIdentity } from '../../../src/bot/identity/identity.ts';
import { recordingLog } from '../../support/redis.ts';
import { TestBrowser } from './test-browser.ts';
import { useIdentityFixture } from './use-identity-fixture.ts';

const { server, fixture, open } = useIdentityFixture();

test('every page has the headers of [page-headers]', async () => {
  await open();
  const pages = [
    await new TestBrowser().get(await fixture.link('20001')),
    await new TestBrowser().get(`${fixture.url}/link/x`),
  ];
  for (const page of pages) {
    expect(page.headers).toMatchObject({
      'content-security-policy':
        "default-src 'none'; style-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
      'referrer-policy': 'same-origin',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'strict-transport-security': expect.stringContaining('max-age='),
    });
  }
});

test('pages use the browser’s language', async () => {
  await open();
  const link = await fixture.link('20001');
  const chinese = await new TestBrowser().get(link, { 'accept-language': 'zh-CN,zh;q=0.9,en;q=0.8' });
  expect(chinese.text).toContain('<html lang="zh-CN"');
  expect(chinese.text).toContain('登录后继续');
  expect((await new TestBrowser().get(link)).text).toContain('Sign in to continue');
});

test('an error page shows a reference that is also in the log', async () => {
  await open();
  const page = await new TestBrowser().get(`${fixture.url}/link/${'x'.repeat(43)}`);
  expect(page.status).toBe(410);
  const reference = /Reference ([\w-]{8})/.exec(page.text)?.[1] ?? 'none';
  expect(fixture.lines.some((line) => line.includes(reference) && line.includes('"link-used-up"'))).toBe(true);
});

test('a link opened outside the app tells the person to use the app if only the app can identify them', async () => {
  await open({ platform: { needsAppBrowser: true } });
  const link = await fixture.link('20001');
  expect((await new TestBrowser().get(link)).text).toContain('Open this link in WeCom');
  const inApp = await new TestBrowser().get(link, { 'user-agent': 'Mozilla wxwork/4.1 MicroMessenger/7.0' });
  expect(inApp.text).not.toContain('Open this link in');
});

test('the limit of useless requests is a setting', async () => {
  await open({ pages: { maxFailuresPerMinute: 3 } });
  const visit = () => new TestBrowser().get(`${fixture.url}/link/x`, { 'x-fixed-address': '7' });
  const statuses = [];
  for (let count = 0; count < 5; count += 1) statuses.push((await visit()).status);
  expect(statuses).toEqual([410, 410, 410, 429, 429]);
});

test('useless requests of an address get 429 after 600 in a minute', async () => {
  await open();
  const visit = (path: string) => new TestBrowser().get(`${fixture.url}${path}`, { 'x-fixed-address': '1' });
  const kinds = [
    ['/link/x', 410],
    ['/oauth/callback?code=x', 400],
    ['/sign-in/confirm', 400],
  ] as const;
  for (let round = 0; round < 20; round += 1) {
    const answers = await Promise.all(
      Array.from({ length: 30 }, async (_, index) => {
        const [path, status] = kinds[index % kinds.length] ?? kinds[0];
        return [(await visit(path)).status, status];
      }),
    );
    for (const [status, expected] of answers) expect(status).toBe(expected);
  }
  const refused = await visit('/link/x');
  expect(refused.status).toBe(429);
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
  expect((await visit('/oauth/callback?code=x')).status).toBe(429);
  fixture.clock.nowMs += 60_000;
  expect((await visit('/link/x')).status).toBe(410);
});

test('the counter of an address is named by a keyed hash and expires within two minutes', async () => {
  await open();
  const visit = () => new TestBrowser().get(`${fixture.url}/link/x`, { 'x-fixed-address': '1' });
  const counter = async () => (await server.redis.keys('{id}:failures:*')).sort();
  await visit();
  const [key = ''] = await counter();
  expect(await server.redis.pttl(key)).toBeGreaterThan(0);
  expect(await server.redis.pttl(key)).toBeLessThanOrEqual(120_000);
  const other = createIdentity({ ...fixture.options, keyRing: new KeyRing([Buffer.alloc(32, 77)]) });
  fixture.serve(other);
  await visit();
  expect(await counter()).toHaveLength(2);
});

test('the trusted hop of X-Forwarded-For determines the client address', async () => {
  await open({ pages: { trustedProxyHops: 1 } });
  const visit = (address: string) =>
    new TestBrowser().get(`${fixture.url}/link/x`, {
      'x-forwarded-for': `1.2.3.4, ${address}`,
      'x-fixed-address': '1',
    });
  for (let round = 0; round < 20; round += 1)
    await Promise.all(Array.from({ length: 30 }, (_, index) => visit(`[2001:db8::${index + 1}]:${1_000 + index}`)));
  expect((await visit('2001:db8::ffff')).status).toBe(429);
  expect((await visit('2001:db8:0:1::1')).status).toBe(410);
});

test('one ticket is started at most 60 times, after which a new link works', async () => {
  await open();
  const link = await fixture.link('20001');
  const browser = fixture.browser('20001', '20001');
  for (let count = 0; count < 60; count += 1) expect((await browser.submit(await browser.get(link))).status).toBe(200);
  expect((await browser.submit(await browser.get(link))).status).toBe(429);
  expect((await fixture.walk(browser, await fixture.link('20001', true))).text).toContain('You are signed in');
});

test('redirects a page under another host name to the public host, and refuses a form', async () => {
  await open();
  const link = await fixture.link('20001');
  const answer = await new TestBrowser().get(link, { host: `localhost:${new URL(fixture.url).port}` });
  expect(answer.status).toBe(307);
  expect(answer.headers['location']).toBe(link);
  const form = await new TestBrowser().send('POST', `${link}/start`, { form: {}, headers: { host: 'localhost' } });
  expect(form.status).toBe(403);
});

test('refuses a whole form with a valid token under another host name', async () => {
  await open();
  const link = await fixture.link('20001');
  const browser = fixture.browser('20001', '20001');
  const page = await browser.get(link);
  const csrf = /name="csrf" value="([^"]+)"/.exec(page.text)?.[1] ?? '';
  const send = (headers: Record<string, string>) => browser.send('POST', `${link}/start`, { form: { csrf }, headers });
  expect((await send({ host: 'evil.example' })).status).toBe(403);
  expect((await send({})).status).toBe(200);
});

test('without Redis, pages answer 503 in time, and useless requests are still rate-limited', async () => {
  const log = recordingLog().log;
  const away = connectRedis({ urls: ['redis://127.0.0.1:1/0'] }, 'fail-fast', log, 'away');
  await open({ identity: { redis: away } });
  const startedMs = performance.now();
  const visit = () => new TestBrowser().get(`${fixture.url}/link/${'x'.repeat(43)}`, { 'x-fixed-address': '1' });
  const page = await visit();
  // The deadline is 1.5 s; the rest allows for a busy machine.
  expect(performance.now() - startedMs).toBeLessThan(6_000);
  expect(page.status).toBe(503);
  expect(page.headers['retry-after']).toBe('60');
  const statuses = await Promise.all(
    Array.from({ length: 601 }, () => new TestBrowser().get(`${fixture.url}/link/x`, { 'x-fixed-address': '1' })),
  );
  expect(statuses.filter(({ status }) => status === 410)).toHaveLength(600);
  expect(statuses.filter(({ status }) => status === 429)).toHaveLength(1);
  away.disconnect();
});

test('with a frozen Redis, pages answer 503 in time [acknowledged-when-stored]', async () => {
  await open();
  const link = await fixture.link('20001');
  process.kill(server.pid, 'SIGSTOP');
  try {
    const startedMs = performance.now();
    expect((await new TestBrowser().get(link)).status).toBe(503);
    // The deadline is 1.5 s; the rest allows for a busy machine.
    expect(performance.now() - startedMs).toBeLessThan(6_000);
  } finally {
    process.kill(server.pid, 'SIGCONT');
  }
});

test('serves the style sheet', async () => {
  await open();
  const css = await new TestBrowser().get(`${fixture.url}/assets/sign-in.css`);
  expect(css.headers['content-type']).toContain('text/css');
  expect(css.text).toContain('.card');
});
