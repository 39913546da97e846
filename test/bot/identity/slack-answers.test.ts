import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { findChromium, launchChromium } from '../../support/chromium.ts';
import { useTestRedis } from '../../support/use-test-redis.ts';
import { startIdentityFixture, type IdentityFixture } from './identity-fixture.ts';
import { slackChat, startSlackStandIn, type SlackStandIn } from './slack-stand-in.ts';

const server = useTestRedis();
let slack: SlackStandIn;
let fixture: IdentityFixture;
beforeEach(async () => {
  slack = await startSlackStandIn();
  fixture = await startIdentityFixture(server.redis, {
    messagingApp: slackChat(slack),
    signIn: { proof: ['same-browser'] },
  });
});
afterEach(() => Promise.all([fixture.close(), slack.close()]));

const nowSec = () => Math.floor(Date.now() / 1_000);
const links = () => server.redis.keys('{id}:link:*');
const told = () => fixture.notices.map(({ person, notice }) => [person.chatUserId, notice.kind]);
const TOKEN = '/api/openid.connect.token';
const USER_INFO = '/api/openid.connect.userInfo';
const [USER, TEAM, ENTERPRISE] = ['user_id', 'team_id', 'enterprise_id'].map((name) => `https://slack.com/${name}`) as [
  string,
  string,
  string,
];

/** Signs in at Slack and returns the asker's browser with the page after Slack's callback. */
async function walk({ member = 'U1', language = 'en' } = {}) {
  const browser = fixture.browser('20001', member);
  const started = await browser.submit(await browser.get(await fixture.link('U1')));
  const back = await browser.follow(started, /\/oauth\/platform\/slack\/callback/);
  const arrived = await browser.get(String(back.headers['location']), { 'accept-language': language });
  return { browser, page: arrived.status === 303 ? await browser.follow(arrived) : arrived };
}

describe('Slack web sign-in as the proof same-browser [proof-of-person] [chat-proof-first]', () => {
  test('links the person who asked in the chat, and asks Slack only for their identity', async () => {
    const { browser, page } = await walk();
    expect((await browser.submit(page, '/sign-in/confirm')).text).toContain('You are signed in as');
    expect(await fixture.identity.accountOf(fixture.owner, 'U1')).toMatchObject({ accountId: '20001' });
    const [asked] = slack.seen.authorize;
    expect(Object.fromEntries(asked ?? [])).toMatchObject({
      response_type: 'code',
      scope: 'openid',
      client_id: '12345.67890',
      team: 'T1',
      redirect_uri: `${fixture.url}/oauth/platform/slack/callback`,
      state: expect.stringMatching(/^[0-9a-f]{64}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
    });
    expect(fixture.service.seen.authorize).toHaveLength(1);
  });

  test.each([
    ['another person’s Slack account', 'U2', {}, 'different chat account', '另一个聊天账号'],
    ['the same id in another workspace', 'U1', { team: 'T2' }, 'another organisation’s workspace', '其他组织的工作区'],
  ])('%s: links nothing, uses up the link, and notifies its owner', async (_what, member, mischief, en, zh) => {
    for (const [language, words] of [
      ['en', en],
      ['zh-CN', zh],
    ] as const) {
      slack.mischief = mischief;
      const { browser, page } = await walk({ member, language });
      expect([page.status, page.text.includes(words)]).toEqual([403, true]);
      expect((await browser.get(`${fixture.url}/sign-in/confirm`)).status).toBe(400);
      expect(told()).toEqual([['U1', 'someone-else-signed-in']]);
      fixture.notices.splice(0);
    }
    expect(fixture.service.seen.authorize).toEqual([]);
    expect(await links()).toEqual([]);
  });

  test('tells a person who cancels at Slack that nothing was connected, and offers a new start', async () => {
    slack.mischief = { error: 'access_denied' };
    const { browser, page } = await walk();
    expect([page.status, page.text.includes('No account was connected')]).toEqual([200, true]);
    slack.mischief = {};
    const confirm = await browser.follow(await browser.submit(page, '/sign-in/again'));
    expect((await browser.submit(confirm, '/sign-in/confirm')).text).toContain('You are signed in as');
  });

  test('accepts all workspaces of an organisation-wide app, and no other', async () => {
    slack.mischief = { bot: { is_enterprise_install: true, enterprise_id: 'E1' }, team: 'T7' };
    expect((await walk()).page.status).toBe(403);
    slack.mischief = { ...slack.mischief, claims: { [ENTERPRISE]: 'E2' } };
    expect((await walk()).page.status).toBe(403);
    slack.mischief = { ...slack.mischief, claims: { [ENTERPRISE]: 'E1' } };
    expect((await walk()).page.text).toContain('Are both of these you?');
  });

  test('accepts no person while Slack does not say which workspace the bot is in', async () => {
    slack.mischief = { answers: { '/api/auth.test': { status: 503, body: '' } } };
    const { browser, page } = await walk();
    expect(page.status).toBe(502);
    slack.mischief = {};
    expect((await browser.follow(await browser.submit(page, '/sign-in/again'))).text).toContain('Are both of these');
  });

  test('says that Slack is asked', async () => {
    const landing = await fixture.browser('20001', 'U1').get(await fixture.link('U1'));
    expect(landing.text).toContain('Slack confirms your account there');
  });

  (findChromium() === undefined ? test.skip : test)(
    'Chromium follows the form through another host to Slack, to the service and back',
    async () => {
      const browser = await launchChromium();
      const page = await browser.newPage({
        locale: 'en-US',
        extraHTTPHeaders: { 'x-member': 'U1', 'x-account': '20001' },
      });
      slack.mischief = { movesOn: true };
      await page.goto(await fixture.link('U1'));
      await page.getByRole('button', { name: 'Continue' }).click();
      await page.waitForURL('**/sign-in/confirm');
      await page.getByRole('button', { name: 'Confirm and sign in' }).click();
      await page.getByRole('heading', { name: 'You are signed in as' }).waitFor();
      await browser.close();
      expect(slack.seen.authorize).toHaveLength(1);
    },
    30_000,
  );
});

type Broken = [string, SlackStandIn['mischief']];
const BROKEN: Broken[] = [
  ['algorithm none', { signedBy: 'nobody' }],
  ['an algorithm that is made with the secret', { header: { alg: 'HS256' } }],
  ['no signature', { token: { id_token: 'eyJhbGciOiJSUzI1NiJ9.e30.' } }],
  ['another key of the right name', { signedBy: 'foreign' }],
  ['an unknown key id', { signedBy: 'foreign', header: { kid: 'k2' } }],
  ['another issuer', { claims: { iss: 'https://evil.example' } }],
  ['another audience', { claims: { aud: '99999.99999' } }],
  ['another nonce', { claims: { nonce: 'of-another-sign-in' } }],
  ['no nonce', { claims: { nonce: undefined } }],
  ['an expired id token', { claims: { exp: nowSec() - 120 } }],
  ['an id token that is not yet valid', { claims: { nbf: nowSec() + 600 } }],
  ['no id token', { token: { id_token: undefined } }],
  ['no access token', { token: { access_token: undefined } }],
  ['another subject at the user address', { userInfo: { sub: 'U9' } }],
  ['another user at the user address', { userInfo: { [USER]: 'U9' } }],
  ['another workspace at the user address', { userInfo: { [TEAM]: 'T9' } }],
  ['no user', { claims: { [USER]: undefined }, userInfo: { [USER]: undefined } }],
  ['no workspace', { claims: { [TEAM]: undefined }, userInfo: { [TEAM]: 1 } }],
  ['a refusal of the code', { answers: { [TOKEN]: { body: '{"ok":false,"error":"invalid_code"}' } } }],
  ['a refusal of the client', { answers: { [TOKEN]: { body: '{"ok":false,"error":"bad_client_secret"}' } } }],
  ['a refusal by rate', { answers: { [TOKEN]: { status: 429, body: '{"ok":false,"error":"ratelimited"}' } } }],
  ['an invalid answer', { answers: { [TOKEN]: { body: '<html>' } } }],
  ['an over-long answer', { answers: { [TOKEN]: { body: `{"x":"${'x'.repeat(300_000)}"}` } } }],
  ['Slack away at the token', { answers: { [TOKEN]: { status: 503, body: '' } } }],
  ['Slack away at the user address', { answers: { [USER_INFO]: { status: 503, body: '' } } }],
  ['a refusal at the user address', { answers: { [USER_INFO]: { body: '{"ok":false,"error":"invalid_auth"}' } } }],
  ['no key set', { answers: { '/openid/connect/keys': { status: 503, body: '' } } }],
  ['an invalid key set', { answers: { '/openid/connect/keys': { body: '<html>' } } }],
  ['an error of Slack’s own', { error: 'server_error' }],
];

describe('invalid responses of Slack’s web sign-in', () => {
  test.each(BROKEN)(
    '%s: identifies no person, and the sign-in service is not asked [checked-id-tokens]',
    async (...row) => {
      const [, mischief] = row;
      slack.mischief = mischief;
      const { browser, page } = await walk();
      expect([page.status, page.text.includes('did not confirm your chat account')]).toEqual([502, true]);
      expect(fixture.service.seen.authorize).toEqual([]);
      expect(told()).toEqual([]);
      expect(new Set(slack.seen.codes).size).toBe(slack.seen.codes.length);
      expect(fixture.lines.join('\n')).not.toMatch(/xoxp-|SC-|evil\.example|secret-of-the/);
      // The link stays usable: once Slack works again, the same browser continues.
      slack.mischief = {};
      const confirm = await browser.follow(await browser.submit(page, '/sign-in/again'));
      expect((await browser.submit(confirm, '/sign-in/confirm')).text).toContain('You are signed in as');
    },
  );

  test('the code of another sign-in is rejected even with the right state and person', async () => {
    const browser = fixture.browser('20001', 'U1');
    const started = await browser.submit(await browser.get(await fixture.link('U1')));
    const back = await browser.follow(started, /\/oauth\/platform\/slack\/callback/);
    const swapped = new URL(String(back.headers['location']));
    swapped.searchParams.set('code', slack.mintCode('U1', 'of-another-browser'));
    expect((await browser.get(swapped.href)).status).toBe(502);
    expect(await links()).toEqual([]);
  });
});
