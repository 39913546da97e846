import { expect, test } from '@jest/globals';
import { createIdentity, type Identity } from '../../../src/bot/identity/identity.ts';
import { createFakePlatform } from '../../support/fake-platform.ts';
import { faultyNames, load, loadSound, SERVING } from '../config/environments.ts';
import { CONVERSATION, withRules } from './identity-fixture.ts';
import { useIdentityFixture } from './use-identity-fixture.ts';

const { fixture, open } = useIdentityFixture();
const SLACK = { SLACK_SIGNING_SECRET: 'signing-secret', SLACK_BOT_TOKEN: 'xoxb-1-token' };
const OWNER = { platform: 'slack', tenant: 'slack', app: 'bot' } as const;

/** WeCom and Slack in one deployment: WeCom requires same-browser, Slack requires same-id. */
async function openBoth(): Promise<Identity> {
  await open();
  const platforms = new Map<'wecom' | 'slack', typeof fixture.platform>([
    ['wecom', fixture.platform],
    ['slack', createFakePlatform({ name: 'slack', tenant: 'slack', hasWebSignIn: false })],
  ]);
  const proofBy = { wecom: ['same-browser'], slack: ['same-id'] } as const;
  const rules = { proof: ['same-browser', 'same-id'], proofBy } as const;
  const both = createIdentity(withRules({ ...fixture.options, platforms }, rules));
  fixture.serve(both);
  return both;
}

async function linkOnSlack(identity: Identity, chatUserId: string): Promise<string> {
  const asked = await identity.inviteToSignIn({ ...OWNER, chatUserId, conversation: CONVERSATION, language: 'en' });
  if (asked.kind !== 'invited') throw new Error(`No link: ${asked.kind}`);
  return asked.url;
}

test('each platform applies its own proof: WeCom accepts a different account id, Slack requires the same id [proof-of-person]', async () => {
  const both = await openBoth();
  await fixture.walk(fixture.browser('20001', 'member-1'), await fixture.link('member-1'));
  expect(await both.accountOf(fixture.owner, 'member-1')).toMatchObject({ status: 'active', accountId: '20001' });

  await fixture.walk(fixture.browser('20002'), await linkOnSlack(both, '20002'));
  expect(await both.accountOf(OWNER, '20002')).toMatchObject({ status: 'active', accountId: '20002' });
});

test('the proof of one platform is not accepted on the other [proof-of-person]', async () => {
  const both = await openBoth();
  // On WeCom, equal ids do not help in another person's browser.
  const stranger = fixture.browser('20003', 'somebody-else');
  const wecomLink = await fixture.link('20003');
  const page = await stranger.follow(await stranger.submit(await stranger.get(wecomLink)));
  expect(page.status).toBe(403);
  expect(await both.accountOf(fixture.owner, '20003')).toBeUndefined();
  // On Slack, the right chat account in the browser does not help without the id.
  const other = fixture.browser('20004', '20005');
  const slackPage = await other.follow(await other.submit(await other.get(await linkOnSlack(both, '20005'))));
  expect(slackPage.status).toBe(403);
  expect(await both.accountOf(OWNER, '20005')).toBeUndefined();
});

test('SIGN_IN_PROOF names a proof for each enabled platform, or one for all', () => {
  const proofs = (text: string) => {
    const { proofs: all, proofsBy } = loadSound({ ...SERVING, ...SLACK, SIGN_IN_PROOF: text }).config.signIn;
    return { all, proofsBy };
  };
  expect(proofs('wecom:same-browser,slack:same-id')).toEqual({
    all: ['same-browser', 'same-id'],
    proofsBy: { wecom: ['same-browser'], slack: ['same-id'] },
  });
  expect(proofs('wecom: same-browser+same-id , slack:typed-code').proofsBy).toEqual({
    wecom: ['same-browser', 'same-id'],
    slack: ['typed-code'],
  });
  expect(proofs('same-id')).toEqual({ all: ['same-id'], proofsBy: {} });
});

test.each([
  ['wecom:same-browser', 'does not name Slack, which is configured: add slack:'],
  [
    'wecom:same-browser,slack:same-browser',
    'names same-browser for Slack, which requires SLACK_CLIENT_ID, SLACK_CLIENT_SECRET',
  ],
  ['wecom:typed-code+same-id,slack:same-id', 'combines typed-code for WeCom with another proof'],
  [
    'wecom:same-browser,slack:same-id,feishu:same-id',
    'names feishu, which is not a platform; valid names are wecom, slack',
  ],
  ['wecom:same-browser,slack', 'must be same-browser, same-id or typed-code, or a proof for each platform'],
  [
    'wecom:same-browser,wecom:same-id,slack:same-id',
    'must be same-browser, same-id or typed-code, or a proof for each platform',
  ],
])('rejects SIGN_IN_PROOF=%s on both platforms with a remedy [checked-at-start]', (text, words) => {
  const env = { ...SERVING, ...SLACK, SIGN_IN_PROOF: text };
  expect(faultyNames(env)).toEqual(['SIGN_IN_PROOF']);
  const loaded = load(env);
  expect(!loaded.ok && loaded.faults[0]?.message).toContain(words);
});
