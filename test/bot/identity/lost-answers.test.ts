import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { losingEachAnswer, startForgetfulRedis, type ForgetfulRedis } from '../../support/lost-answers.ts';
import { startIdentityFixture, type IdentityFixture, type IdentityFixtureOptions } from './identity-fixture.ts';

// After a broken connection, the client resends commands without a response, which Redis may already have executed.
// Whichever response is lost, the decision must stand and each notice must be sent once.

let forgetful: ForgetfulRedis;
let fixture: IdentityFixture;
beforeAll(async () => {
  forgetful = await startForgetfulRedis('fail-fast');
});
afterAll(() => forgetful.stop());

/** Runs `act` once for each response that can be lost, each time with a new fixture. `prepare` runs without faults. */
const whicheverIsLost = <Ready>(
  options: IdentityFixtureOptions,
  prepare: () => Promise<Ready>,
  act: (ready: Ready) => Promise<unknown>,
) =>
  losingEachAnswer(forgetful, {
    async prepare() {
      fixture = await startIdentityFixture(forgetful.redis, options);
      return prepare();
    },
    act,
    tidy: () => fixture.close(),
  });

const DAY_MS = 86_400_000;

/** Expects the same result in every run, and more than `least` runs. */
function expectAll(seen: unknown[], least: number, right: unknown): void {
  expect(seen).toEqual(seen.map(() => right));
  expect(seen.length).toBeGreaterThan(least);
}

const told = () => ({
  notices: fixture.notices.map(({ person, notice }) => `${person.chatUserId} ${notice.kind}`),
  releases: fixture.releases.length,
  events: fixture.events,
});

test.each([['same-browser'], ['same-id']] as const)(
  'a sign-in with proof %s links, releases and notifies once',
  async (proof) => {
    const seen = await whicheverIsLost(
      { signIn: { proof: [proof] } },
      async () => fixture.browser('20001', '20001'),
      async (browser) => {
        const page = await fixture.walk(browser, await fixture.link('20001'));
        const account = await fixture.identity.accountOf(fixture.owner, '20001');
        return { status: page.status, account: account?.accountId, ...told() };
      },
    );
    expectAll(seen, 12, {
      ...{ status: 200, account: '20001', notices: ['20001 linked'] },
      ...{ releases: 1, events: ['link-asked', 'link-started', 'linked'] },
    });
  },
  60_000,
);

const TYPED: IdentityFixtureOptions = { signIn: { proof: ['typed-code'] } };
const say = (chatUserId: string, text: string, messageId: string, chatKind: 'private' | 'group' = 'private') =>
  fixture.identity.redeemTypedCode({ owner: fixture.owner, chatUserId, chatKind, text, messageId });
const walkToCode = async () => {
  const page = await fixture.walk(fixture.browser('20001'), await fixture.link('20001'));
  return /[0-9A-Z]{4}-[0-9A-Z]{4}/.exec(page.text)?.[0] ?? 'no code';
};

test('a sign-in by a typed code counts a wrong code once, links, and releases', async () => {
  const seen = await whicheverIsLost(
    TYPED,
    async () => undefined,
    async () => {
      const code = await walkToCode();
      const wrong = await say('20001', `${code.slice(0, 8)}${code.endsWith('A') ? 'B' : 'A'}`, 'm1');
      return [wrong, (await say('20001', code, 'm2'))?.kind, told()];
    },
  );
  expectAll(seen, 12, [
    { kind: 'wrong', triesLeft: 4, language: 'en' },
    'linked',
    { notices: [], releases: 1, events: ['link-asked', 'link-started', 'linked'] },
  ]);
}, 60_000);

test('a code that another person types is kept from the model and revoked, and its owner is notified once', async () => {
  const seen = await whicheverIsLost(TYPED, walkToCode, async (code) => {
    fixture.events.splice(0);
    return [(await say('20009', `my code is ${code.toLowerCase()}`, 'm1'))?.kind, told()];
  });
  const events = ['link-refused code-of-another'];
  expectAll(seen, 2, ['not-awaited', { notices: ['20001 someone-else-signed-in'], releases: 0, events }]);
}, 60_000);

test('a person who opens a forwarded link is refused, and its owner is notified once', async () => {
  const seen = await whicheverIsLost(
    {},
    () => fixture.link('20001'),
    async (link) => {
      const browser = fixture.browser('20002', '20002');
      const page = await browser.follow(await browser.submit(await browser.get(link)));
      return [page.status, told()];
    },
  );
  const events = ['link-asked', 'link-started', 'link-refused other-chat-account'];
  expectAll(seen, 5, [403, { notices: ['20001 someone-else-signed-in'], releases: 0, events }]);
}, 60_000);

test('a sign-in to an account linked elsewhere is refused with 409, and its holder is notified once', async () => {
  const prepare = async () => {
    await fixture.walk(fixture.browser('20001', '20001'), await fixture.link('20001'));
    const browser = fixture.browser('20001', '20002');
    const confirm = await fixture.walkToConfirm(browser, await fixture.link('20002'));
    for (const kept of [fixture.notices, fixture.releases, fixture.events]) kept.splice(0);
    return { browser, confirm };
  };
  const seen = await whicheverIsLost({}, prepare, async ({ browser, confirm }) => {
    const page = await browser.submit(confirm, '/sign-in/confirm');
    return [page.status, told()];
  });
  const events = ['link-refused linked-elsewhere'];
  expectAll(seen, 3, [409, { notices: ['20001 account-wanted-elsewhere'], releases: 0, events }]);
}, 60_000);

const linked = async () => {
  await fixture.walk(fixture.browser('20001', '20001'), await fixture.link('20001'));
  for (const kept of [fixture.notices, fixture.releases, fixture.events]) kept.splice(0);
};
const keepsBoth: IdentityFixtureOptions = { signIn: { keepTokens: 'both' } };

test('a token is refreshed once, and a refused refresh notifies the person once', async () => {
  const seen = await whicheverIsLost(keepsBoth, linked, async () => {
    fixture.clock.nowMs += DAY_MS;
    const fresh = () => fixture.identity.freshAccessToken(fixture.owner, '20001');
    const token = await fresh();
    fixture.clock.nowMs += DAY_MS;
    fixture.service.scripted.refresh = () => ({ status: 401, body: '{"error":"invalid_grant"}' });
    return [
      token === '',
      await fresh().catch((error: unknown) => (error as { code?: string }).code),
      told().notices,
      fixture.events,
    ];
  });
  expectAll(seen, 8, [false, 'sign_in_again', ['20001 sign-in-again'], ['sign-in-again token-refused']]);
}, 60_000);

test('an account that is due for a re-check is re-checked in the same round, and its suspension is announced once', async () => {
  const seen = await whicheverIsLost(keepsBoth, linked, async () => {
    fixture.clock.nowMs += DAY_MS;
    fixture.service.profiles.set('20001', { active: false });
    const count = await fixture.identity.recheckDue(10);
    const account = await fixture.identity.accountOf(fixture.owner, '20001');
    return [count, account?.status, told().notices, fixture.events];
  });
  expectAll(seen, 6, [1, 'suspended', ['20001 suspended'], ['suspended inactive']]);
}, 60_000);
