import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { parseDirectoryFile } from '../../src/service/directory-file.ts';
import { parseProfileMapFile } from '../../src/shared/sign-in/profile-map-file.ts';
import { OidcSignIn } from '../../src/service/oauth/methods/oidc-sign-in.ts';
import { startTestRedis, type TestRedis } from '../support/redis.ts';
import { OIDC_CLIENT, startRealProvider, type AuthMethod, type RealProvider } from './real-oidc-provider.ts';
import {
  authorizePath,
  Browser,
  CALLBACK,
  exchange,
  getProfile,
  PEOPLE,
  postToken,
  startTestService,
  type TestService,
} from './support.ts';

const MAP = {
  XM: 'name',
  BMMC: 'dept',
  identity: { from: 'kind', codes: { teacher: 'JG', student: 'XS' } },
};
/** A former member of the institution whose provider still has the account. */
const FORMER = {
  ...PEOPLE[0],
  username: 'former',
  messaging: {},
  profile: { ...(PEOPLE[0] as { profile: object }).profile, id: '19990001', active: false },
};
const LI = { sub: '20240007', name: '李雷', dept: 'Physics', kind: 'student', active: true };

let server: TestRedis;
let service: TestService;
let provider: RealProvider;

async function start(authMethod: AuthMethod = 'client_secret_basic', directory: readonly object[] = []): Promise<void> {
  provider = await startRealProvider();
  const profileMap = parseProfileMapFile(JSON.stringify(MAP));
  service = await startTestService(server.redis, {
    directory: parseDirectoryFile(JSON.stringify(directory), { allowPlainPasswords: true }),
    institution: {
      name: 'Campus ID',
      signIn: new OidcSignIn({ issuer: provider.url, ...OIDC_CLIENT, scope: 'openid profile', profileMap }),
    },
  });
  provider.open(`${service.url}/sign-in/oidc/callback`, authMethod);
}

beforeAll(async () => {
  server = await startTestRedis();
});
beforeEach(async () => server.redis.flushall());
afterAll(async () => server.stop());

/** Follows the pages of the provider until it redirects the browser back to the service. */
async function passProvider(location: string): Promise<string> {
  const visitor = new Browser(provider.url);
  let next = location;
  for (let hop = 0; hop < 6 && new URL(next, provider.url).origin === provider.url; hop++) {
    const answer = await visitor.get(next);
    next = answer.headers.location ?? `no redirect: ${answer.statusCode} ${answer.body.slice(0, 200)}`;
  }
  return next;
}

async function signIn(browser: Browser, path = authorizePath({ state: 's1' })) {
  const away = await browser.get(path);
  return browser.get(await passProvider(away.headers.location ?? ''));
}

describe('sign-in through the institution by OpenID Connect [ways-to-sign-in]', () => {
  async function withDeployment(work: () => Promise<void>, ...args: Parameters<typeof start>): Promise<void> {
    await start(...args);
    try {
      await work();
    } finally {
      await Promise.all([service.close(), provider.close()]);
    }
  }

  test.each(['client_secret_basic', 'client_secret_post'] as const)(
    'covers authorize, a real provider (%s), profile and refresh',
    (authMethod) =>
      withDeployment(async () => {
        provider.person = LI;
        const browser = new Browser(service.url);
        const back = await signIn(browser);
        expect([back.statusCode, back.headers.location]).toEqual([303, authorizePath({ state: 's1' })]);
        expect(Object.fromEntries(provider.asked[0] ?? [])).toMatchObject({
          response_type: 'code',
          client_id: 'campus-chat',
          scope: 'openid profile',
          redirect_uri: `${service.url}/sign-in/oidc/callback`,
          state: expect.stringMatching(/^[0-9a-f]{64}$/),
          nonce: expect.stringMatching(/.{32}/),
          code_challenge: expect.stringMatching(/^[\w-]{43}$/),
          code_challenge_method: 'S256',
        });
        const consent = await browser.follow(back);
        expect(consent.body).toContain('李雷');
        const answer = new URL((await browser.submit(consent, { decision: 'allow' })).headers.location ?? 'missing:');
        expect(answer.href.startsWith(`${CALLBACK}?`)).toBe(true);
        const { body } = await exchange(service, answer.searchParams.get('code') ?? '');
        const profile = await getProfile(service, body['access_token']);
        expect(profile.body).toEqual({
          id: '20240007',
          sub: '20240007',
          active: true,
          parentIdentityInfo: { name: '学生', code: 'XS' },
          attributes: { BMBM: '', BMMC: 'Physics', XGH: '20240007', XM: '李雷', objectId: '20240007' },
          client_id: 'parley',
        });
        const renewed = await postToken(service, {
          grant_type: 'refresh_token',
          client_id: 'parley',
          client_secret: 'the-secret',
          refresh_token: String(body['refresh_token']),
        });
        expect((await getProfile(service, renewed.body['access_token'])).body['id']).toBe('20240007');
      }, authMethod),
  );

  test('shows a page to an inactive person, and updates the profile that applications see at a new sign-in', () =>
    withDeployment(async () => {
      provider.person = LI;
      const browser = new Browser(service.url);
      const consent = await browser.follow(await signIn(browser));
      const answer = new URL((await browser.submit(consent, { decision: 'allow' })).headers.location ?? 'missing:');
      const { body } = await exchange(service, answer.searchParams.get('code') ?? '');
      const shown = async () => (await getProfile(service, body['access_token'])).body;
      provider.person = { ...LI, name: '李雷雷' };
      await signIn(new Browser(service.url));
      expect(await shown()).toMatchObject({ active: true, attributes: { XM: '李雷雷' } });
      provider.person = { ...LI, active: false };
      const refused = await signIn(new Browser(service.url));
      expect([refused.statusCode, refused.headers['set-cookie']]).toEqual([403, undefined]);
      expect(refused.body).toContain('Your account is not active');
      expect(await shown()).toMatchObject({ active: false });
    }));

  test('prefers the directory over the claims: by username, by profile id, and with its active:false', () =>
    withDeployment(
      async () => {
        const nameAfter = async (sub: string) => {
          provider.person = { ...LI, sub };
          const browser = new Browser(service.url);
          const page = await browser.get(authorizePath());
          const href = /class="primary" href="([^"]+)"/.exec(page.body)?.[1]?.replaceAll('&amp;', '&') ?? '';
          const back = await signIn(browser, href);
          return back.statusCode === 303 ? (await browser.follow(back)).body : back.body;
        };
        expect(await nameAfter('zhangwei')).toContain('张伟');
        expect(await nameAfter('20190001')).toContain('张伟');
        expect(await nameAfter('20249999')).toContain('李雷');
        expect(await nameAfter('former')).toContain('Your account is not active');
        expect(await nameAfter('19990001')).toContain('Your account is not active');
      },
      'client_secret_basic',
      [...PEOPLE, FORMER],
    ));

  test('leads a person who declines back to the choice, where the provider asks again', () =>
    withDeployment(async () => {
      provider.declines = true;
      const browser = new Browser(service.url);
      const page = await signIn(browser);
      expect(page.statusCode).toBe(403);
      const link = /class="primary" href="([^"]+)"/.exec(page.body)?.[1]?.replaceAll('&amp;', '&') ?? '';
      const choice = await browser.get(link);
      expect(choice.body).toContain('Sign in with Campus ID');
      expect(choice.body).not.toContain('name="password"');
      const way = /class="primary" href="([^"]+)"/.exec(choice.body)?.[1]?.replaceAll('&amp;', '&') ?? '';
      await browser.get((await browser.get(way)).headers.location ?? '');
      expect(provider.asked.at(-1)?.get('prompt')).toBe('login');
    }));

  test('logs no secret, code, token or name, and stores the profile encrypted', () =>
    withDeployment(async () => {
      provider.person = LI;
      await signIn(new Browser(service.url));
      const keys = await server.redis.keys('*');
      const kept = await Promise.all(keys.map((key) => server.redis.get(key).catch(() => '')));
      expect(`${service.logLines.join('\n')}${keys.join('\n')}`).not.toMatch(
        /oidc-client-secret|20240007|李雷|state=|code=/,
      );
      expect(kept.filter((value) => value?.startsWith('v1.'))).toHaveLength(1);
      expect(kept.join('\n')).not.toMatch(/李雷|Physics/);
    }));
});
