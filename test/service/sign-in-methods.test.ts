import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parseDirectoryFile } from '../../src/service/directory-file.ts';
import { CasSignIn } from '../../src/service/oauth/methods/cas-sign-in.ts';
import type {
  ProviderCallback,
  RedirectRequest,
  MessagingAppSignIn,
} from '../../src/service/oauth/methods/redirect-sign-in.ts';
import { wecomSignIn } from '../../src/service/oauth/methods/wecom-sign-in.ts';
import { startTestRedis, type TestRedis } from '../support/redis.ts';
import { authorizePath, Browser, PEOPLE, startTestService, type TestService } from './support.ts';
import { tries } from '../support/tries.ts';

const WECOM_AGENT = 'Mozilla/5.0 (iPhone) wxwork/3.0.31 MicroMessenger/7.0.1';
const FEISHU_AGENT = 'Mozilla/5.0 (iPhone) Lark/7.1';
const WECOM_OPEN = 'http://127.0.0.1:7/open';
const CAS_URL = 'http://127.0.0.1:7/cas';

const wecom = wecomSignIn({
  corpId: 'ww1',
  agentId: '1',
  agentSecret: 's',
  apiUrl: 'http://127.0.0.1:7',
  openUrl: WECOM_OPEN,
});
const institution = { signIn: new CasSignIn({ url: CAS_URL, profileMap: {} }), name: 'Campus ID' };
const people = (messaging: Record<string, string>[]) =>
  parseDirectoryFile(
    JSON.stringify(PEOPLE.map((person, index) => ({ ...person, messaging: messaging[index] ?? {} }))),
    {
      allowPlainPasswords: true,
    },
  );

/** The complete code for another messaging app: one class for the port. This one uses the code as the user id. */
class FeishuStandIn implements MessagingAppSignIn {
  readonly name = 'feishu';
  readonly ignoresCase = false;

  isOpenIn(userAgent: string): boolean {
    return userAgent.includes('Lark/');
  }

  async startRedirect({ callbackUrl, state }: RedirectRequest) {
    return {
      location: `https://feishu.example/?${new URLSearchParams({ callbackUrl, state }).toString()}`,
      kept: 'verifier',
    };
  }

  async identify({ query, kept }: ProviderCallback) {
    return kept === 'verifier' ? { userId: query.get('code') ?? '' } : undefined;
  }
}

let server: TestRedis;
const services: TestService[] = [];

beforeAll(async () => {
  server = await startTestRedis();
});
afterAll(async () => {
  await Promise.all(services.map((service) => service.close()));
  await server.stop();
});

async function start(options: Parameters<typeof startTestService>[1]): Promise<TestService> {
  const service = await startTestService(server.redis, options);
  services.push(service);
  return service;
}

/** The result of authorize in this kind of browser: an address elsewhere, or a page with these methods. */
async function landing(service: TestService, agent = 'Mozilla/5.0 (X11; Linux) Chrome/140'): Promise<string> {
  const page = await new Browser(service.url, { 'user-agent': agent }).get(authorizePath());
  if (page.statusCode === 302) return page.headers.location?.split('?')[0] ?? '';
  const way = /class="primary" href="(\/sign-in\/\w+)\?/.exec(page.body)?.[1];
  return [way, page.body.includes('name="password"') ? 'form' : undefined].filter(Boolean).join(' and ');
}

describe('"the sign-in step picks the method by environment" [ways-to-sign-in]', () => {
  const inApp = `${WECOM_OPEN}/connect/oauth2/authorize`;
  const withIds = people([{ wecom: 'zhang' }]);
  test.each([
    ['only a directory', {}, 'form', 'form'],
    ['a directory and WeCom', { messagingApps: [wecom] }, 'form', inApp],
    ['the institution alone', { directory: [], institution }, `${CAS_URL}/login`, `${CAS_URL}/login`],
    ['institution and directory', { institution }, '/sign-in/cas and form', '/sign-in/cas and form'],
    ['all three', { directory: withIds, institution, messagingApps: [wecom] }, '/sign-in/cas and form', inApp],
    [
      'institution and WeCom, without WeCom ids',
      { directory: [], institution, messagingApps: [wecom] },
      `${CAS_URL}/login`,
      `${CAS_URL}/login`,
    ],
    ['no method', { directory: [] }, 'form', 'form'],
  ])('%s', async (_, options, inBrowser, inWecom) => {
    const service = await start(options);
    expect([await landing(service), await landing(service, WECOM_AGENT)]).toEqual([inBrowser, inWecom]);
  });

  test('supports another messaging app by one file, whose identity counts only inside that app', async () => {
    const service = await start({
      directory: people([{ feishu: 'ou_Zhang' }, { feishu: 'ou_other' }]),
      messagingApps: [wecom, () => new FeishuStandIn()],
    });
    expect(await landing(service, WECOM_AGENT)).toBe(inApp);
    expect(await landing(service)).toBe('form');
    const arrive = async (userId: string) => {
      const browser = new Browser(service.url, { 'user-agent': FEISHU_AGENT });
      const away = new URL((await browser.get(authorizePath())).headers.location ?? 'missing:');
      const { callbackUrl, state } = Object.fromEntries(away.searchParams);
      expect(callbackUrl).toBe(`${service.url}/sign-in/feishu/callback`);
      const back = await browser.get(`${String(callbackUrl)}?code=${userId}&state=${String(state)}`);
      return back.statusCode === 303 ? (await browser.follow(back)).body : back.statusCode;
    };
    expect(await arrive('ou_Zhang')).toContain('张伟');
    expect(await arrive('OU_zhang')).toBe(403);
    expect(await arrive('ou_nobody')).toBe(403);
  });

  test('does not accept a return of one method for another', async () => {
    const service = await start({ directory: people([{ wecom: 'zhang' }]), institution, messagingApps: [wecom] });
    const browser = new Browser(service.url, { 'user-agent': WECOM_AGENT });
    const away = new URL((await browser.get(authorizePath())).headers.location ?? 'missing:');
    const state = away.searchParams.get('state') ?? '';
    expect((await browser.get(`/sign-in/cas/callback?state=${state}&ticket=ST-1`)).statusCode).toBe(400);
  });
});

describe('the return address after the sign-in', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await start({ institution });
  });

  test.each([
    'https://evil.example/',
    '//evil.example/',
    '/\\evil.example',
    'javascript:alert(1)',
    '/oauth2.0/authorizeX?',
    '/account/../..//evil.example',
    '/account?next=//evil.example',
    '',
  ])('is refused as return_to=%j', async (returnTo) => {
    const query = new URLSearchParams({ return_to: returnTo }).toString();
    for (const path of ['/sign-in', '/sign-in/cas'])
      expect((await new Browser(service.url).get(`${path}?${query}`)).statusCode).toBe(400);
  });

  test("property: keeps the browser on the service's origin for any accepted return_to", async () => {
    const near = fc
      .tuple(fc.constantFrom('/account', '/oauth2.0/authorize?', '/oauth2.0/authorize', '/', '//'), fc.string())
      .map(([start, rest]) => start + rest);
    await fc.assert(
      fc.asyncProperty(near, async (returnTo) => {
        const browser = new Browser(service.url);
        const query = new URLSearchParams({ return_to: returnTo }).toString();
        const away = await browser.get(`/sign-in/cas?${query}`);
        expect([302, 400]).toContain(away.statusCode);
        if (away.statusCode === 302) expect(new URL(returnTo, service.url).origin).toBe(service.url);
      }),
      { numRuns: tries(200) },
    );
  });

  test('is kept on the Chinese page with both methods, and a HEAD does not redirect', async () => {
    const page = await new Browser(service.url, { 'accept-language': 'zh-CN' }).get(authorizePath());
    expect(page.body).toContain('使用Campus ID登录');
    expect(page.body).toContain('或使用本服务的密码登录');
    const head = await fetch(`${service.url}/sign-in/cas?return_to=/account`, { method: 'HEAD', redirect: 'manual' });
    expect([head.status, head.headers.get('set-cookie')]).toEqual([200, null]);
  });

  test('is kept by the form next to the button, also after a wrong password', async () => {
    const browser = new Browser(service.url);
    const login = await browser.get(authorizePath());
    const wrong = await browser.submit(login, { username: 'alice', password: 'no' });
    expect([wrong.statusCode, wrong.body.includes('href="/sign-in/cas?')]).toEqual([401, true]);
    const right = await browser.submit(wrong, { username: 'alice', password: 'alice-pass' });
    expect((await browser.follow(right)).body).toContain('Alice Chen');
  });

  test('leads back to the choice of methods if the session ended before the consent form was sent', async () => {
    const browser = new Browser(service.url);
    const consent = await browser.follow(
      await browser.submit(await browser.get(authorizePath()), { username: 'alice', password: 'alice-pass' }),
    );
    browser.cookies.delete('__Host-svc-session');
    const answer = await browser.submit(consent, { decision: 'allow' });
    expect(answer.headers.location).toBe(`/sign-in?${new URLSearchParams({ return_to: authorizePath() }).toString()}`);
  });
});

test.each([
  ['en', 'JG', 'Staff'],
  ['zh-CN', 'JG', '教职工'],
  ['en', 'XS', 'Student'],
  ['zh-CN', 'XS', '学生'],
  ['en', 'QT', 'Other'],
  ['zh-CN', 'QT', '其他'],
  ['en', 'XX', 'named so'],
  ['en', 'constructor', 'named so'],
])(
  "parentIdentityInfo.code: the consent page shows it in the reader's language (%s, %s) [profile]",
  async (language, code, word) => {
    const [first] = PEOPLE as { profile: object }[];
    const person = { ...first, profile: { ...first?.profile, parentIdentityInfo: { code, name: 'named so' } } };
    const service = await start({
      directory: parseDirectoryFile(JSON.stringify([person]), { allowPlainPasswords: true }),
    });
    const browser = new Browser(service.url, { 'accept-language': language });
    const login = await browser.get(authorizePath());
    const consent = await browser.follow(
      await browser.submit(login, { username: 'zhangwei', password: 'zhangwei-pass' }),
    );
    expect(consent.body).toContain(`<dd>${word}</dd>`);
  },
);
