import { createServer } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { got, type OptionsOfTextResponseBody, type Response } from 'got';
import type { Messenger } from '../../src/simulator/start-messenger.ts';
import { startTestRedis, type TestRedis } from '../support/redis.ts';
import { APP, movableClock, standingClock, startAtTest, until } from './messenger-at-test.ts';
import { botPages, servicePages, startSite } from './stand-in-sites.ts';

let redis: TestRedis;
let messenger: Messenger;
let bot: Awaited<ReturnType<typeof startSite>>;
let service: Awaited<ReturnType<typeof startSite>>;
const clock = movableClock();

beforeAll(async () => {
  redis = await startTestRedis();
  service = await startSite(servicePages(() => bot.site.url));
  bot = await startSite(botPages(() => service.site.url));
  messenger = await startAtTest({
    redis: redis.redis,
    botUrl: bot.site.url,
    serviceUrl: service.site.url,
    nowMs: clock.nowMs,
    timing: { watchAwayMs: 3_600_000 },
  });
});
afterAll(async () => {
  await messenger.close();
  await bot.site.close();
  await service.site.close();
  await redis.stop();
});
beforeEach(() => {
  bot.seen.length = 0;
  service.seen.length = 0;
});

/** Acts as the iframe's browser. */
const visit = (url: string, options: OptionsOfTextResponseBody = {}): Promise<Response<string>> =>
  got(url, {
    throwHttpErrors: false,
    retry: { limit: 0 },
    ...options,
    headers: { 'sec-fetch-dest': 'iframe', 'accept-language': 'zh-CN', ...options.headers },
  });

async function openFrame(person: string, path: string) {
  const frame = await messenger.driver.openFrame(person, bot.site.url + path);
  return { ...frame, origin: new URL(frame.frameUrl).origin };
}

describe('the in-app browser', () => {
  test("opens a page with the app's user agent, at the page's own path, without framing headers", async () => {
    const { frameUrl, origin } = await openFrame('lin', '/link/abc');
    const page = await visit(frameUrl);
    expect(page.url).toBe(`${origin}/link/abc`);
    expect(bot.seen).toHaveLength(1);
    expect(bot.seen[0]?.headers).toMatchObject({
      'user-agent': expect.stringMatching(/wxwork\/4\.1\.30 MicroMessenger/),
      'accept-language': 'zh-CN',
      'sec-fetch-site': 'none',
      'sec-fetch-mode': 'navigate',
      'sec-fetch-dest': 'document',
    });
    expect(page.headers['x-frame-options']).toBeUndefined();
    expect(page.headers['set-cookie']).toBeUndefined();
    expect(page.headers['content-security-policy']).toBe(
      `default-src 'none'; style-src 'self'; form-action 'self'; frame-ancestors ${messenger.url}; script-src ${origin}/~app.js`,
    );
    expect(page.body).toContain('href="/~to/1/help?a=1&amp;b=2"');
    expect(page.body).toContain('href="/~outside?url=https%3A%2F%2Fexample.org%2Fx"');
    expect(page.body).not.toContain('_blank');
    expect(page.body).toContain('<a href="more">');
    expect(
      (await visit(`${origin}/style.css`, { headers: { 'sec-fetch-dest': 'style' } })).headers['content-type'],
    ).toBe('text/css');
  });

  test('submits a form, follows its redirects through the service, and shows the last page', async () => {
    const { frameUrl, origin } = await openFrame('lin', '/link/abc');
    await visit(frameUrl);
    const page = await visit(`${origin}/link/abc/start`, {
      method: 'POST',
      body: 'csrf=1',
      followRedirect: true,
      headers: {
        origin,
        'content-type': 'application/x-www-form-urlencoded',
        'sec-fetch-site': 'same-origin',
        referer: `${origin}/link/abc`,
      },
    });
    expect(page.url).toBe(`${origin}/sign-in/confirm`);
    expect(page.body).toBe('confirm __Host-bs=secret');
    const start = bot.seen.find(({ path }) => path === '/link/abc/start');
    expect(start).toMatchObject({ method: 'POST', body: 'csrf=1' });
    expect(start?.headers).toMatchObject({
      origin: bot.site.url,
      'sec-fetch-site': 'same-origin',
      cookie: '__Host-bs=secret',
    });
    const authorize = service.seen.find(({ path }) => path === '/authorize');
    expect(authorize).toMatchObject({ method: 'GET', headers: { 'sec-fetch-site': 'same-site' } });
    expect(authorize?.headers.origin).toBeUndefined();
    // The visit to the service counts for this request.
    expect(bot.seen.find(({ path }) => path === '/callback?code=c')?.headers['sec-fetch-site']).toBe('same-site');
    expect(bot.seen.filter(({ path }) => path === '/sign-in/confirm')).toHaveLength(1);
  });

  test('keeps the cookies of people apart, and shows another origin and the way back', async () => {
    const lin = await openFrame('lin', '/link/abc');
    await visit(lin.frameUrl);
    const ada = await openFrame('ada', '/sign-in/confirm');
    expect((await visit(ada.frameUrl)).body).toBe('confirm ');
    const elsewhere = await visit(`${lin.origin}/~to/1/help?a=1`);
    expect([elsewhere.url, elsewhere.body]).toEqual([`${lin.origin}/help?a=1`, 'service __Host-bs=secret']);
    // "Back" requests the bot's page again, although the last page was the service's.
    expect((await visit(`${lin.origin}/link/abc`)).body).toContain('relative');
    const relative = await visit(`${lin.origin}/next`, { headers: { referer: `${lin.origin}/help?a=1` } });
    expect(relative.body).toContain('service');
  });

  test('opens no other address and shows it for copying', async () => {
    const { frameUrl, origin } = await openFrame('lin', '/leave');
    const page = await visit(frameUrl);
    expect(page.body).toContain('https://example.org/elsewhere?x=1');
    expect(page.body).toContain('外部页面');
    const link = await visit(`${origin}/~outside?url=${encodeURIComponent('https://example.org/"><script>')}`);
    expect(link.body).not.toContain('<script>');
    await expect(messenger.driver.openFrame('lin', 'javascript:alert(1)')).rejects.toMatchObject({
      code: 'bad_request',
    });
  });

  test('reports a page that does not answer or redirects in a circle', async () => {
    const circle = await openFrame('lin', '/circle');
    expect((await visit(circle.frameUrl, { headers: { 'accept-language': 'en' } })).body).toContain(
      'redirects too often',
    );
    const probe = createServer();
    const { port } = await new Promise<{ port: number }>((resolve) =>
      probe.listen(0, '127.0.0.1', () => resolve(probe.address() as { port: number })),
    );
    probe.close();
    const away = await startAtTest({
      redis: redis.redis,
      botUrl: `http://127.0.0.1:${port}`,
      timing: { watchAwayMs: 3_600_000 },
    });
    const frame = await away.driver.openFrame('lin', `http://127.0.0.1:${port}/link/x`);
    const page = await visit(frame.frameUrl, { headers: { 'accept-language': 'en' } });
    expect([page.statusCode, page.body.includes('does not answer')]).toEqual([502, true]);
    await away.close();
  });

  test('refuses requests of other sites through a frame', async () => {
    const { frameUrl, origin } = await openFrame('lin', '/link/abc');
    await visit(frameUrl);
    const post = (headers: Record<string, string>) =>
      visit(`${origin}/link/abc/start`, { method: 'POST', body: 'x', headers, followRedirect: false });
    expect((await post({ origin: 'http://127.0.0.1:4000', 'sec-fetch-site': 'same-site' })).statusCode).toBe(403);
    expect((await post({ origin: 'https://evil.example' })).statusCode).toBe(403);
    expect((await visit(`${origin}/link/abc`, { headers: { 'sec-fetch-site': 'cross-site' } })).statusCode).toBe(403);
    expect((await visit(`${origin}/link/abc`, { headers: { host: 'evil.example' } })).statusCode).toBe(403);
    expect(bot.seen.some(({ method }) => method === 'POST')).toBe(false);
  });

  test('stops serving a closed or idle frame', async () => {
    const standing = standingClock();
    const idle = await startAtTest({
      redis: redis.redis,
      botUrl: bot.site.url,
      nowMs: standing.nowMs,
      timing: { frameIdleMs: 40, watchAwayMs: 3_600_000 },
    });
    const { id, frameUrl } = await idle.driver.openFrame('lin', `${bot.site.url}/x`);
    expect((await got.delete(`${idle.url}/api/frames/${id}`)).statusCode).toBe(204);
    await expect(visit(frameUrl)).rejects.toThrow('ECONNREFUSED');
    const other = await idle.driver.openFrame('lin', `${bot.site.url}/x`);
    // A visit counts as use, so the idle time passes before each check.
    const isClosed = async () => {
      standing.move(1_000);
      await new Promise((resolve) => setTimeout(resolve, 150));
      return visit(other.frameUrl).then(
        () => false,
        () => true,
      );
    };
    await until(isClosed, 'the idle frame is closed');
    await idle.close();
  });
});

describe('the end of a visit in the in-app browser', () => {
  /** The states of a frame as reported to lin's page while these pages are shown in it. */
  async function told(visits: (frame: { frameUrl: string; origin: string }) => Promise<unknown>, startUrl: string) {
    const { id, frameUrl } = await messenger.driver.openFrame('lin', startUrl);
    const leave = new AbortController();
    const stream = await fetch(`${messenger.url}/api/people/lin/events`, { signal: leave.signal });
    let text = '';
    const reading = (async () => {
      for await (const chunk of stream.body ?? []) text += Buffer.from(chunk).toString();
    })().catch(() => undefined);
    await visits({ frameUrl, origin: new URL(frameUrl).origin });
    const marks = () =>
      [...text.matchAll(/^event: frame\ndata: (.*)$/gm)]
        .map(([, data]) => JSON.parse(data ?? '') as { id: string; isDone?: true; isClosed?: true })
        .filter((frame) => frame.id === id)
        .map(({ isDone, isClosed }) => (isClosed ? 'closed' : isDone ? 'done' : 'shown'));
    await until(() => marks().length > 0, 'the page is told of the frame');
    await new Promise((resolve) => setTimeout(resolve, 50));
    leave.abort();
    await reading;
    return marks();
  }

  test.each([
    ['done', ['done'], ['shown']],
    ['signed-out', ['done'], ['done']],
    ['cancelled', ['shown'], ['shown']],
    ['returned', ['shown'], ['shown']],
    ['declined', ['shown'], ['shown']],
    ['error', ['shown'], ['shown']],
  ])('a page with %j leads to %j from the bot and to %j from the service', async (outcome, fromBot, fromService) => {
    const visits = ({ frameUrl }: { frameUrl: string }) => visit(frameUrl);
    expect(await told(visits, `${bot.site.url}/outcome/${outcome}`)).toEqual(fromBot);
    expect(await told(visits, `${service.site.url}/outcome/${outcome}`)).toEqual(fromService);
  });

  test("every page contains only the app's own script, by which Escape closes the browser", async () => {
    await told(async ({ frameUrl, origin }) => {
      for (const [address, policy] of [
        [frameUrl, `style-src 'self'; frame-ancestors ${messenger.url}; script-src ${origin}/~app.js`],
        [
          `${origin}/scripts`,
          `default-src https://x.test; frame-ancestors ${messenger.url}; script-src 'self' ${origin}/~app.js`,
        ],
        [`${origin}/free`, `frame-ancestors ${messenger.url}`],
        [`${origin}/~outside?url=https://x.test`, `frame-ancestors ${messenger.url}; script-src ${origin}/~app.js`],
      ] as const) {
        const page = await visit(address);
        expect(page.body).toMatch(/<head><script src="\/~app.js"><\/script>/);
        expect(String(page.headers['content-security-policy'])).toContain(policy);
      }
    }, `${bot.site.url}/strict`);
  });

  test('a person who navigates on from a final page makes the frame active again', async () => {
    const marks = await told(async ({ frameUrl, origin }) => {
      await visit(frameUrl);
      await visit(`${origin}/next`);
    }, `${bot.site.url}/outcome/done`);
    expect(marks).toEqual(['done', 'shown']);
  });

  test("the page's link back to the chat closes the frame", async () => {
    let frameUrl = '';
    const marks = await told(async (frame) => {
      frameUrl = frame.frameUrl;
      const page = await visit(frameUrl);
      expect(page.body).toContain('<a data-back="slack" href="/~back">');
      expect(page.body).toContain('<head><script src="/~app.js"></script>');
      const script = await visit(`${frame.origin}/~app.js`, { headers: { 'sec-fetch-dest': 'script' } });
      expect([script.headers['content-type'], script.body]).toEqual([
        'text/javascript; charset=utf-8',
        expect.stringContaining('WeixinJSBridge'),
      ]);
      expect((await visit(`${frame.origin}/~back`)).statusCode).toBe(204);
    }, `${bot.site.url}/outcome/cancelled`);
    expect(marks).toEqual(['shown', 'closed']);
    await until(
      () =>
        visit(frameUrl).then(
          () => false,
          () => true,
        ),
      'the frame does not listen any more',
    );
  });
});

describe("the app's web sign-in [wecom-web-sign-in]", () => {
  const authorizeUrl = (changes: Record<string, string> = {}) => {
    const query = {
      appid: APP.corpId,
      redirect_uri: `${bot.site.url}/oauth/platform/wecom/callback`,
      response_type: 'code',
      scope: 'snsapi_base',
      state: 'abc123',
      agentid: APP.agentId,
      ...changes,
    };
    return `${messenger.url}/connect/oauth2/authorize?${new URLSearchParams(query).toString()}#wechat_redirect`;
  };
  const userInfo = async (code: string) => {
    const { access_token: token } = await got(
      `${messenger.url}/cgi-bin/gettoken?corpid=${APP.corpId}&corpsecret=${APP.agentSecret}`,
    ).json<{ access_token: string }>();
    return got(`${messenger.url}/cgi-bin/auth/getuserinfo?access_token=${token}&code=${code}`).json();
  };

  test('returns the in-app browser with a code of its person, for one use within five minutes', async () => {
    const codeOf = async (person: string) => {
      const { frameUrl } = await messenger.driver.openFrame(person, authorizeUrl());
      await visit(frameUrl);
      const back = new URL(bot.seen.at(-1)?.path ?? '', bot.site.url);
      expect(back.searchParams.get('state')).toBe('abc123');
      return back.searchParams.get('code') ?? '';
    };
    const code = await codeOf('ada');
    expect(await userInfo(code)).toMatchObject({ errcode: 0, userid: 'ada' });
    expect(await userInfo(code)).toMatchObject({ errcode: 40029 });
    const late = await codeOf('lin');
    clock.move(5 * 60_000 + 1_000);
    expect(await userInfo(late)).toMatchObject({ errcode: 40029 });
    expect(bot.seen[0]?.headers['x-messenger-session']).toBeUndefined();
  });

  test('gives no other browser a code, whatever its user agent', async () => {
    const page = await got(authorizeUrl(), {
      headers: { 'user-agent': 'wxwork/4.1.30', 'x-messenger-session': 'guess' },
      throwHttpErrors: false,
      followRedirect: false,
    });
    expect([page.statusCode, page.headers.location]).toEqual([403, undefined]);
  });

  test.each([
    ['another company', { appid: 'wwother' }, 40013],
    ['an untrusted address', { redirect_uri: 'https://evil.example/' }, 50001],
    ['another port', { redirect_uri: 'http://127.0.0.1:1/' }, 50001],
    ['a state with other characters', { state: 'a-b' }, 40058],
    ['a long state', { state: 'a'.repeat(129) }, 40058],
    ['another scope', { scope: 'openid' }, 40058],
  ])('refuses %s', async (_name, changes, code) => {
    const result = await messenger.driver.browse('lin', {
      url: new URL(authorizeUrl(changes)),
      method: 'GET',
      destination: 'document',
    });
    expect(result).toMatchObject({ kind: 'page', status: 400 });
    expect(result.kind === 'page' && result.body.toString()).toContain(String(code));
  });
});
