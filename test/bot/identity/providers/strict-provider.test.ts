import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { useTestRedis } from '../../../support/use-test-redis.ts';
import { startIdentityFixture, type IdentityFixture } from '../identity-fixture.ts';
import { startStrictProvider, type StrictProvider } from './strict-provider.ts';

const server = useTestRedis();
let provider: StrictProvider;
let fixture: IdentityFixture;
beforeEach(async () => {
  provider = await startStrictProvider();
  fixture = await startIdentityFixture(server.redis, {
    provider,
    signIn: { type: 'oidc', profileMap: { BMMC: ['dept'] }, keepTokens: 'refresh' },
  });
});
afterEach(() => Promise.all([fixture.close(), provider.close()]));

const DAY_MS = 24 * 3_600_000;
const account = (id = '20001') => fixture.identity.accountOf(fixture.owner, id);
const walk = async (id = '20001') => fixture.walk(fixture.browser(id, id), await fixture.link(id));

describe('the oidc-provider package with required PKCE and single-use refresh tokens', () => {
  test.each(['RS256', 'ES256'] as const)(
    '%s: signs in, re-checks daily, unlinks and signs out [sign-in-in-steps] [daily-check] [unlink-ends-all]',
    async (algorithm) => {
      provider.open(fixture.url, algorithm);
      provider.claims = { dept: 'Library' };
      const browser = fixture.browser('20001', '20001');
      const done = await fixture.walk(browser, await fixture.link('20001'));
      expect(done.text).toContain('You are signed in as Person 20001');
      expect(await account()).toMatchObject({ accountId: '20001', departmentName: 'Library', status: 'active' });
      expect(Object.fromEntries(provider.seen.authorize[0] ?? [])).toMatchObject({
        scope: 'openid profile',
        redirect_uri: `${fixture.url}/oauth/callback`,
        state: expect.stringMatching(/^[0-9a-f]{64}$/),
        nonce: expect.stringMatching(/.{32}/),
        code_challenge_method: 'S256',
      });

      for (const dept of ['Physics', 'Chemistry']) {
        provider.claims = { dept };
        fixture.clock.nowMs += DAY_MS;
        expect(await fixture.identity.recheckDue(10)).toBe(1);
        expect(await account()).toMatchObject({ departmentName: dept, status: 'active' });
      }

      const { logoutUrl } = await fixture.identity.unlink(fixture.owner, '20001', 'm1');
      expect(await account()).toBeUndefined();
      const away = new URL(logoutUrl ?? 'missing:');
      expect(Object.fromEntries(away.searchParams)).toEqual({
        client_id: 'parley',
        post_logout_redirect_uri: `${fixture.url}/oauth/callback`,
      });
      const asks = await browser.get(away.href);
      const form = { ...asks, text: asks.text.replaceAll(/type="hidden"\s*/g, '') };
      const out = await browser.follow(await browser.submit(form));
      expect([out.url, out.text.includes('You are back from Example University')]).toEqual([
        `${fixture.url}/oauth/callback`,
        true,
      ]);
    },
  );

  test('changed keys and algorithm only restart the sign-in once', async () => {
    provider.open(fixture.url, 'RS256');
    await walk('20001');
    provider.open(fixture.url, 'ES256');
    expect((await walk('20002')).text).toContain('You are signed in as Person 20002');
    provider.open(fixture.url, 'ES256');
    expect((await walk('20003')).text).toContain('You are signed in as Person 20003');
  });

  test('a deleted account has to sign in again', async () => {
    provider.open(fixture.url, 'RS256');
    await walk();
    provider.gone.add('20001');
    fixture.clock.nowMs += DAY_MS;
    await fixture.identity.recheckDue(10);
    expect((await account())?.status).toBe('reauth');
  });
});
