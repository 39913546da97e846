import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { parseClientsFile } from '../../src/service/clients-file.ts';
import { findChromium, launchChromium } from '../support/chromium.ts';
import { startTestRedis, type TestRedis } from '../support/redis.ts';
import { judgePage } from './judge-page.ts';
import { authorizePath, Browser as Visitor, exchange, startTestService, type TestService } from './support.ts';

let server: TestRedis;
let service: TestService;
let client: Server;
let callback: string;
let chromium: Browser;

const describeInBrowser = findChromium() === undefined ? describe.skip : describe;

describeInBrowser('the sign-in pages in Chromium', () => {
  beforeAll(async () => {
    server = await startTestRedis();
    client = createServer((_, response) => response.end('<!doctype html><title>back</title><p>back at the client'));
    await new Promise<void>((resolve) => client.listen(0, '127.0.0.1', resolve));
    callback = `http://127.0.0.1:${(client.address() as AddressInfo).port}/oauth/callback`;
    const clients = [
      { client_id: 'parley', client_secret: 'the-secret', name: 'Parley 小助手', redirect_uris: [callback] },
    ];
    service = await startTestService(server.redis, { clients: parseClientsFile(JSON.stringify(clients)) });
    chromium = await launchChromium();
  });
  afterAll(async () => {
    await chromium.close();
    await service.close();
    await new Promise((resolve) => (client.closeAllConnections(), client.close(resolve)));
    await server.stop();
  });

  /** Tries wrong passwords until the limit is reached. */
  async function useUpTries(username: string): Promise<void> {
    const visitor = new Visitor(service.url);
    const login = await visitor.get(authorizePath({ redirect_uri: callback }));
    await Promise.all(Array.from({ length: 10 }, () => visitor.submit(login, { username, password: 'wrong' })));
  }

  const WIDE = { width: 1_200, height: 850 };
  const PHONE = { width: 390, height: 844 };
  const looks = [
    { locale: 'en-GB', colorScheme: 'light', viewport: WIDE },
    { locale: 'zh-CN', colorScheme: 'dark', viewport: PHONE },
    { locale: 'en-GB', colorScheme: 'dark', viewport: WIDE },
    { locale: 'zh-CN', colorScheme: 'light', viewport: PHONE },
  ] as const;

  test.each(looks)('lead from login and consent back to the client: $locale, $colorScheme', async (look) => {
    const context = await chromium.newContext(look);
    const page = await context.newPage();
    const named = (name: string) => `${name}-${look.locale.slice(0, 2)}-${look.colorScheme}-${look.viewport.width}`;
    await page.goto(`${service.url}${authorizePath({ redirect_uri: callback, state: 's1' })}`);
    await judgePage(page, named('login'));
    await page.fill('[name=username]', 'zhangwei');
    await page.fill('[name=password]', 'wrong');
    await page.press('[name=password]', 'Enter');
    await page.waitForSelector('[role=alert]');
    await judgePage(page, named('login-wrong'));
    await useUpTries(named('guessed'));
    await page.fill('[name=username]', named('guessed'));
    await page.fill('[name=password]', 'wrong');
    await page.press('[name=password]', 'Enter');
    await page.waitForSelector('text=/ten minutes|十分钟/');
    await judgePage(page, named('login-slow'));
    await page.fill('[name=username]', 'zhangwei');
    await page.fill('[name=password]', 'zhangwei-pass');
    await page.press('[name=password]', 'Enter');
    await page.waitForSelector('[name=decision]');
    await judgePage(page, named('consent'));
    // A number is not broken across lines, even on a narrow page.
    await page.setViewportSize({ width: 320, height: 640 });
    const lines = await page.evaluate<number[]>(
      "[...document.querySelectorAll('.facts dd')].map((one) => one.getBoundingClientRect().height)",
    );
    expect(Math.max(...lines)).toBeLessThan(30);
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    // The size of an app's browser beside the chat in a window of 1280 x 800 pixels.
    await page.setViewportSize({ width: 389, height: 655 });
    const allow = await page.locator('[name=decision][value=allow]').boundingBox();
    expect((allow?.y ?? 999) + (allow?.height ?? 0)).toBeLessThanOrEqual(655);
    await page.setViewportSize(look.viewport);
    await page.click('[name=decision][value=allow]');
    await page.waitForURL(`${callback}?**`);
    const code = new URL(page.url()).searchParams.get('code') ?? '';
    expect((await exchange(service, code, { redirect_uri: callback })).status).toBe(200);
    for (const [name, path] of [
      ['home', '/'],
      ['account', '/account'],
      ['error', '/oauth2.0/authorize?client_id=nobody'],
      ['missing', '/nothing-here'],
      ['logout', '/logout'],
      ['logout-for-application', `/logout?service=${encodeURIComponent(callback)}`],
      ['login-to-account', '/account'],
    ] as const) {
      await page.goto(`${service.url}${path}`);
      await judgePage(page, named(name));
    }
    await context.close();
  });

  test.each(looks)('include an account page with an empty list: $locale, $colorScheme', async (look) => {
    await server.redis.flushall();
    const context = await chromium.newContext(look);
    const page = await context.newPage();
    await page.goto(`${service.url}/account`);
    await page.fill('[name=username]', 'alice');
    await page.fill('[name=password]', 'alice-pass');
    await page.press('[name=password]', 'Enter');
    await page.waitForURL('**/account');
    await judgePage(page, `account-empty-${look.locale.slice(0, 2)}-${look.colorScheme}`);
    await context.close();
  });

  test("lead to the application's address after signing out and in again, despite the form-action policy", async () => {
    const page = await chromium.newPage();
    await page.goto(`${service.url}/logout?service=${encodeURIComponent(callback)}`);
    await page.click('a.button');
    await page.fill('[name=username]', 'alice');
    await page.fill('[name=password]', 'alice-pass');
    await page.press('[name=password]', 'Enter');
    await page.waitForURL(callback);
    await page.close();
  });

  test('lead back to the client on deny', async () => {
    const page = await chromium.newPage();
    await page.goto(`${service.url}${authorizePath({ redirect_uri: callback })}`);
    await page.fill('[name=username]', 'alice');
    await page.fill('[name=password]', 'alice-pass');
    await page.press('[name=password]', 'Enter');
    await page.click('[name=decision][value=deny]');
    await page.waitForURL(`${callback}?error=access_denied`);
    await page.close();
  });
});
