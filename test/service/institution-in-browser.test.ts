import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { CasSignIn } from '../../src/service/oauth/methods/cas-sign-in.ts';
import { findChromium, launchChromium } from '../support/chromium.ts';
import { startTestRedis, type TestRedis } from '../support/redis.ts';
import { judgePage } from './judge-page.ts';
import { startStandIn, type StandIn } from './sign-in-support.ts';
import { authorizePath, startTestService, type TestService } from './support.ts';

let server: TestRedis;
let cas: StandIn;
let chromium: Browser;
let both: TestService;
let alone: TestService;
let user = '20240007';
let mayAsk: string[] = [];

const describeInBrowser = findChromium() === undefined ? describe.skip : describe;

/** A CAS server whose login passes another host, like institutional single sign-on. It accepts everyone at once. */
async function startCas(): Promise<StandIn> {
  return startStandIn((request, response) => {
    const { pathname, searchParams, port } = new URL(
      request.url ?? '/',
      `http://${request.headers.host ?? 'localhost'}`,
    );
    const service = searchParams.get('service') ?? '';
    const go = (location: string) => response.writeHead(302, { location }).end();
    mayAsk.push(`${pathname} ${searchParams.get('renew') ?? ''}`.trim());
    if (pathname === '/cas/login') return go(`http://localhost:${port}/form?${searchParams.toString()}`);
    if (pathname === '/form') return go(`${service}&ticket=ST-1`);
    const claims = `<cas:user>${user}</cas:user><cas:attributes><cas:cn>李雷</cas:cn></cas:attributes>`;
    return response.end(
      `<cas:serviceResponse xmlns:cas="http://www.yale.edu/tp/cas"><cas:authenticationSuccess>${claims}</cas:authenticationSuccess></cas:serviceResponse>`,
    );
  });
}

describeInBrowser('institutional sign-in in Chromium', () => {
  beforeAll(async () => {
    [server, cas, chromium] = await Promise.all([startTestRedis(), startCas(), launchChromium()]);
    const institution = { signIn: new CasSignIn({ url: `${cas.url}/cas`, profileMap: {} }) };
    both = await startTestService(server.redis, { institution: { ...institution, name: '清河大学统一身份认证' } });
    alone = await startTestService(server.redis, { institution, directory: [] });
  });
  afterAll(async () => {
    await chromium.close();
    await Promise.all([both.close(), alone.close(), cas.close()]);
    await server.stop();
  });

  test.each([
    { locale: 'en-GB', colorScheme: 'light', viewport: { width: 1_200, height: 850 } },
    { locale: 'zh-CN', colorScheme: 'dark', viewport: { width: 390, height: 844 } },
  ] as const)('shows the button, the form and the following pages: $locale, $colorScheme', async (look) => {
    const context = await chromium.newContext(look);
    const page = await context.newPage();
    const named = (name: string) => `${name}-${look.locale.slice(0, 2)}-${look.colorScheme}`;
    await page.goto(`${both.url}${authorizePath()}`);
    await judgePage(page, named('login-both'));
    await page.click('a.primary');
    await page.waitForSelector('[name=decision]');
    expect(await page.textContent('main')).toContain('李雷');
    await judgePage(page, named('consent-institution'));
    user = 'x'.repeat(200);
    await page.goto(`${alone.url}/account`);
    await page.waitForSelector('footer');
    await judgePage(page, named('profile-unusable'));
    user = '20240007';
    await context.close();
  });

  test('passes every host of the institution when the person signs in as someone else after a form', async () => {
    const page = await chromium.newPage();
    const refused: string[] = [];
    page.on('console', (message) => refused.push(message.text()));
    await page.goto(`${alone.url}${authorizePath()}`);
    await page.click('[name=decision][value=switch]');
    await page.waitForURL('**/sign-in?**');
    await judgePage(page, 'choose-sign-in');
    mayAsk = [];
    await page.click('a.primary');
    await page.waitForSelector('[name=decision]');
    expect(mayAsk).toEqual(['/cas/login true', '/form true', '/cas/p3/serviceValidate true']);
    expect(refused.filter((text) => text.includes('Content Security Policy'))).toEqual([]);
    await page.close();
  });
});
