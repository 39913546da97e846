import { describe, expect, test } from '@jest/globals';
import { authorizePath, Browser, CALLBACK, startTestService } from './support.ts';
import { useTestService } from './use-test-service.ts';

const { server, service } = useTestService();

describe('logging in', () => {
  test('shows an error for a wrong password and creates no session', async () => {
    const browser = new Browser(service.url);
    const answer = await browser.submit(await browser.get(authorizePath()), {
      username: 'zhangwei',
      password: 'guess',
    });
    expect(answer.statusCode).toBe(401);
    expect(answer.body).toContain('role="alert"');
    expect((await browser.get(authorizePath())).body).toContain('name="password"');
  });
});

describe('headers and forms [page-headers]', () => {
  test('forbid framing, scripts and caching, and let form-action follow the redirect', async () => {
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
  ])('refuse a login form %s with 403', async (_, headers, keepsCookie, changes: { csrf?: string }) => {
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

  test('refuse a form older than half an hour', async () => {
    const browser = new Browser(service.url);
    const page = await browser.get(authorizePath());
    service.clock.ms += 31 * 60_000;
    expect((await browser.submit(page, { username: 'alice', password: 'alice-pass' })).statusCode).toBe(403);
  });

  test('show a name with markup or bidirectional control characters as harmless text', async () => {
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

  test('use the language of the reader', async () => {
    const page = await new Browser(service.url, { 'accept-language': 'zh-CN,zh;q=0.9' }).get(authorizePath());
    expect(page.body).toContain('<html lang="zh-CN"');
    expect(page.body).toContain('用户名');
  });

  test('include a home page, and a 404 page for an unknown address', async () => {
    const browser = new Browser(service.url);
    expect((await browser.get('/')).body).toContain('chat and sign-in service');
    const missing = await browser.get('/nothing');
    expect([
      missing.statusCode,
      missing.headers['content-security-policy']?.includes("frame-ancestors 'none'"),
    ]).toEqual([404, true]);
  });
});
