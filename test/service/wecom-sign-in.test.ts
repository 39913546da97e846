import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { wecomSignIn } from '../../src/service/oauth/methods/wecom-sign-in.ts';
import { startTestRedis, type TestRedis } from '../support/redis.ts';
import {
  authorizePath,
  Browser,
  CALLBACK,
  exchange,
  getProfile,
  startTestService,
  type TestService,
} from './support.ts';

const AGENT = 'Mozilla/5.0 (iPhone) AppleWebKit/605 Mobile wxwork/3.0.31 MicroMessenger/7.0.1 Language/zh';

let server: TestRedis;
let service: TestService;
let platform: Server;
/** Members by the code that WeCom issued for them; other codes are refused. */
const members: Record<string, object> = {
  'code-zhang': { errcode: 0, userid: 'ZHANGWEIwecom' },
  'code-guest': { errcode: 0, openid: 'o-guest' },
  'code-stranger': { errcode: 0, userid: 'nobody-here' },
};
let goodToken = 'token-1';
let calls: string[] = [];

beforeAll(async () => {
  server = await startTestRedis();
  platform = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
    calls.push(pathname);
    const answer = () => {
      if (pathname === '/cgi-bin/gettoken') {
        return searchParams.get('corpsecret') === 'agent-secret'
          ? { errcode: 0, access_token: goodToken, expires_in: 7_200 }
          : { errcode: 40_001 };
      }
      if (searchParams.get('access_token') !== goodToken) return { errcode: 42_001, errmsg: 'access_token expired' };
      return members[searchParams.get('code') ?? ''] ?? { errcode: 40_029, errmsg: 'invalid code' };
    };
    response.end(JSON.stringify(answer()));
  });
  await new Promise<void>((resolve) => platform.listen(0, '127.0.0.1', resolve));
  const apiUrl = `http://127.0.0.1:${(platform.address() as AddressInfo).port}`;
  const wecom = {
    corpId: 'ww1',
    agentId: '1000002',
    agentSecret: 'agent-secret',
    apiUrl,
    openUrl: 'http://127.0.0.1:7/open',
  };
  service = await startTestService(server.redis, { messagingApps: [wecomSignIn(wecom)] });
});
afterAll(async () => {
  await service.close();
  await new Promise((resolve) => platform.close(resolve));
  await server.stop();
});
beforeEach(() => {
  calls = [];
});

async function leave(browser: Browser): Promise<URL> {
  return new URL((await browser.get(authorizePath({ state: 's1' }))).headers.location ?? 'missing:');
}

function returnPath(away: URL, code: string): string {
  return `/sign-in/wecom/callback?${new URLSearchParams({ code, state: away.searchParams.get('state') ?? '' }).toString()}`;
}

describe('the sign-in inside WeCom by the app, without a password', () => {
  test('leads through the platform and consent to a code of the right person', async () => {
    const browser = new Browser(service.url, { 'user-agent': AGENT });
    const away = await leave(browser);
    expect(`${away.origin}${away.pathname}${away.hash}`).toBe(
      'http://127.0.0.1:7/open/connect/oauth2/authorize#wechat_redirect',
    );
    expect(Object.fromEntries(away.searchParams)).toEqual({
      appid: 'ww1',
      redirect_uri: `${service.url}/sign-in/wecom/callback`,
      response_type: 'code',
      scope: 'snsapi_base',
      state: expect.stringMatching(/^[A-Za-z0-9]{1,128}$/),
      agentid: '1000002',
    });
    const consent = await browser.follow(await browser.get(returnPath(away, 'code-zhang')));
    expect(consent.body).toContain('张伟');
    expect(consent.body).not.toMatch(/name="password"|value="switch"/);
    const back = new URL((await browser.submit(consent, { decision: 'allow' })).headers.location ?? 'missing:');
    expect([back.href.startsWith(`${CALLBACK}?`), back.searchParams.get('state')]).toEqual([true, 's1']);
    const { body } = await exchange(service, back.searchParams.get('code') ?? '');
    expect((await getProfile(service, body.access_token)).body.id).toBe('20190001');
  });

  test('shares the app token between sign-ins, and fetches a new one when WeCom refuses it', async () => {
    const identify = async () => {
      const browser = new Browser(service.url, { 'user-agent': AGENT });
      return browser.get(returnPath(await leave(browser), 'code-zhang'));
    };
    expect((await identify()).statusCode).toBe(303);
    expect(calls).toEqual(['/cgi-bin/auth/getuserinfo']);
    calls = [];
    goodToken = 'token-2';
    expect((await identify()).statusCode).toBe(303);
    expect(calls).toEqual(['/cgi-bin/auth/getuserinfo', '/cgi-bin/gettoken', '/cgi-bin/auth/getuserinfo']);
  });

  test.each([
    ['a person who is not a member', 'code-guest', 403],
    ['a member who is not in the directory', 'code-stranger', 403],
    ['a code that WeCom refuses', 'code-bad', 502],
  ])('shows a friendly page and creates no session for %s', async (_, code, status) => {
    const browser = new Browser(service.url, { 'user-agent': AGENT });
    const page = await browser.get(returnPath(await leave(browser), code));
    expect(page.statusCode).toBe(status);
    expect(page.headers['set-cookie']?.join() ?? '').not.toContain('session');
    expect((await leave(browser)).pathname).toBe('/open/connect/oauth2/authorize');
  });

  test('refuses a return in another browser, a second return, and an unknown state', async () => {
    const browser = new Browser(service.url, { 'user-agent': AGENT });
    const away = await leave(browser);
    const other = new Browser(service.url, { 'user-agent': AGENT });
    await leave(other);
    expect((await other.get(returnPath(away, 'code-zhang'))).statusCode).toBe(400);
    const again = await leave(browser);
    const cookies = new Map(browser.cookies);
    expect((await browser.get(returnPath(again, 'code-zhang'))).statusCode).toBe(303);
    expect((await browser.get(returnPath(again, 'code-zhang'))).statusCode).toBe(400);
    for (const [name, value] of cookies) browser.cookies.set(name, value);
    expect((await browser.get(returnPath(again, 'code-zhang'))).statusCode).toBe(400);
    expect((await browser.get('/sign-in/wecom/callback?code=code-zhang&state=zz')).statusCode).toBe(400);
  });

  test('ignores a password session of the same web view', async () => {
    const outside = new Browser(service.url);
    await outside.submit(await outside.get(authorizePath()), { username: 'alice', password: 'alice-pass' });
    const inside = new Browser(service.url, { 'user-agent': AGENT });
    for (const [name, value] of outside.cookies) inside.cookies.set(name, value);
    expect((await leave(inside)).pathname).toBe('/open/connect/oauth2/authorize');
  });

  test("neither logs nor stores the app's secret or token in plain text", async () => {
    const kept = await server.redis.get('{service}:wecom-token:ww1:1000002');
    expect(`${kept ?? ''}${service.logLines.join('\n')}`).not.toMatch(/agent-secret|token-[12]|code-zhang/);
    expect(kept).toMatch(/^s1\./);
  });
});
