import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { useTestRedis } from '../../../support/use-test-redis.ts';
import { keys } from '../../../../src/bot/identity/store.ts';
import { startIdentityFixture, type IdentityFixture } from '../identity-fixture.ts';
import { startOidcStandIn, type Mischief, type OidcStandIn } from './oidc-stand-in.ts';

const server = useTestRedis();
let provider: OidcStandIn;
let fixture: IdentityFixture;
beforeEach(async () => {
  provider = await startOidcStandIn();
  fixture = await startIdentityFixture(server.redis, {
    provider,
    signIn: { type: 'oidc', proof: ['same-browser', 'same-id'] },
  });
});
afterEach(() => Promise.all([fixture.close(), provider.close()]));

const nowSec = () => Math.floor(Date.now() / 1_000);
const links = () => server.redis.keys('{id}:link:*');
const walk = async () => fixture.walk(fixture.browser('20001', '20001'), await fixture.link('20001'));
const toConfirm = async () => fixture.walkToConfirm(fixture.browser('20001', '20001'), await fixture.link('20001'));

const DISCOVERY = '/.well-known/openid-configuration';
const SERVICE_FAILED: [string, Mischief][] = [
  ['another issuer in the id token', { claims: { iss: 'https://evil.example' } }],
  ['another audience', { claims: { aud: 'another-client' } }],
  ['another nonce', { claims: { nonce: 'of-another-sign-in' } }],
  ['no nonce', { claims: { nonce: undefined } }],
  ['algorithm none', { signedBy: 'nobody' }],
  ['an algorithm that is made with the secret', { header: { alg: 'HS256' } }],
  ['no signature', { token: { id_token: 'eyJhbGciOiJSUzI1NiJ9.e30.' } }],
  ['another key of the right name', { signedBy: 'foreign' }],
  ['an unknown key id', { signedBy: 'foreign', header: { kid: 'k2' } }],
  ['an expired id token', { claims: { exp: nowSec() - 120 } }],
  ['an id token that is not yet valid', { claims: { nbf: nowSec() + 600 } }],
  ['no subject', { claims: { sub: undefined } }],
  ['no id token', { token: { id_token: undefined } }],
  ['an over-long access token', { token: { access_token: 'A'.repeat(9_000) } }],
  ['an unsupported token type', { token: { token_type: 'mac' } }],
  ['another subject at the user address', { userInfo: { sub: '20009' } }],
  ['no key set', { answers: { '/jwks': { status: 503, body: '' } } }],
  ['an invalid key set', { answers: { '/jwks': { body: '<html>' } } }],
  ['an over-long answer', { answers: { '/token': { body: `{"x":"${'x'.repeat(300_000)}"}` } } }],
  ['a discovery of another issuer', { discovery: { issuer: 'https://evil.example' } }],
  ['no discovery', { answers: { [DISCOVERY]: { status: 503, body: '' } } }],
];

describe('invalid responses of an OpenID Connect provider', () => {
  test.each(SERVICE_FAILED)('%s: fails the sign-in and stores nothing [checked-id-tokens]', async (_what, mischief) => {
    provider.mischief = mischief;
    const page = await toConfirm();
    expect([page.status, page.text.includes('name="ticket"')]).toEqual([502, true]);
    expect(await links()).toEqual([]);
    expect(await server.redis.keys('{id}:pending:*')).toEqual([]);
    expect(new Set(provider.seen.codes).size).toBe(provider.seen.codes.length);
    expect(fixture.lines.join('\n')).not.toMatch(/AT:|RT:|OC-|evil\.example/);
  });

  test.each([
    ['is not active', { userInfo: { active: false } }],
    ['has no usable id', { claims: { sub: '<b>x</b>' }, userInfo: { sub: '<b>x</b>' } }],
  ])('show a person who %s a separate page [usable-profile]', async (_what, mischief) => {
    provider.mischief = mischief;
    expect((await toConfirm()).status).toBe(403);
    expect(await links()).toEqual([]);
    expect(fixture.events).toContain('link-refused profile');
  });

  test('a clock difference of less than 30 seconds is accepted', async () => {
    provider.mischief = { claims: { exp: nowSec() - 10 } };
    expect((await walk()).status).toBe(200);
  });

  test('discovery is retried by the button of the page once the provider is back', async () => {
    provider.mischief = { answers: { [DISCOVERY]: { status: 503, body: '' } } };
    const browser = fixture.browser('20001', '20001');
    const failed = await fixture.walkToConfirm(browser, await fixture.link('20001'));
    provider.mischief = {};
    const confirm = await browser.follow(await browser.submit(failed));
    expect((await browser.submit(confirm, '/sign-in/confirm')).text).toContain('You are signed in as Person 20001');
  });
});

describe('the daily re-check with an OpenID Connect provider [daily-check] [checked-id-tokens]', () => {
  const DAY_MS = 24 * 3_600_000;
  const status = async () => (await fixture.identity.accountOf(fixture.owner, '20001'))?.status;
  const recheck = async () => {
    fixture.clock.nowMs += DAY_MS;
    await fixture.identity.recheckDue(10);
  };

  test('refreshes the tokens and updates the profile', async () => {
    await walk();
    provider.mischief = { userInfo: { name: 'New Name' } };
    await recheck();
    expect(await fixture.identity.accountOf(fixture.owner, '20001')).toMatchObject({
      name: 'New Name',
      status: 'active',
    });
    await recheck();
    // Each refresh token was used once.
    expect(new Set(provider.seen.refreshes).size).toBe(2);
  });

  test('suspends the link and deletes its tokens for another subject in the renewed id token', async () => {
    await walk();
    provider.refreshMischief = { claims: { sub: '20009' } };
    await recheck();
    expect(await status()).toBe('suspended');
    await expect(fixture.identity.freshAccessToken(fixture.owner, '20001')).rejects.toMatchObject({
      code: 'sign_in_again',
    });
  });

  test('suspends the link of an inactive account', async () => {
    await walk();
    provider.mischief = { userInfo: { active: false } };
    await recheck();
    expect(await status()).toBe('suspended');
  });

  test('asks the person to sign in again after a definitive refusal', async () => {
    await walk();
    provider.mischief = { answers: { '/token': { status: 400, body: '{"error":"invalid_grant"}' } } };
    await recheck();
    expect(await status()).toBe('reauth');
    expect(fixture.notices.at(-1)?.notice.kind).toBe('sign-in-again');
  });

  test.each<[string, Mischief]>([
    ['signed with another key', { signedBy: 'foreign' }],
    ['of another issuer', { claims: { iss: 'https://evil.example' } }],
    ['for another client', { claims: { aud: 'another-client' } }],
  ])(
    'a renewed id token %s does not count: after three days without a check the link is suspended',
    async (_what, mischief) => {
      await walk();
      provider.refreshMischief = mischief;
      await recheck();
      expect(await status()).toBe('active');
      provider.mischief = { answers: { '/token': { status: 503, body: '' } } };
      for (let day = 0; day < 3; day += 1) await recheck();
      expect(await status()).toBe('suspended');
    },
  );
});

test('a sign-in that started with another dialect restarts after the switch to OpenID Connect', async () => {
  const browser = fixture.browser('20001', '20001');
  const away = await browser.follow(
    await browser.submit(await browser.get(await fixture.link('20001'))),
    /\/oauth\/callback/,
  );
  // The key of the consumed transaction of the platform sign-in is stored beside it.
  const names = await server.redis.keys(keys.transaction('*'));
  const name = names.find((one) => /^[0-9a-f]{64}$/.test(one.slice(keys.transaction().length))) ?? '';
  const transaction = JSON.parse((await server.redis.get(name)) ?? '{}') as object;
  const cookieHash = name.slice(keys.transaction().length);
  const verifier = fixture.options.keyRing.seal('pkce-verifier', cookieHash, 'a-verifier-that-is-no-JSON');
  await server.redis.set(name, JSON.stringify({ ...transaction, verifier }), 'PX', 60_000);
  const page = await browser.follow(await browser.get(String(away.headers['location'])));
  expect(page.text).toContain('Person 20001');
});
