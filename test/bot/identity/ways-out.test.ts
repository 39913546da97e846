import { describe, expect, test } from '@jest/globals';
import { MINUTE_MS } from '../../../src/shared/clock.ts';
import type { WaitsFor } from '../../../src/bot/identity/links/waiting.ts';
import { CONVERSATION, type IdentityFixtureOptions } from './identity-fixture.ts';
import type { Answer } from './test-browser.ts';
import { useIdentityFixture } from './use-identity-fixture.ts';

const IN_APP = { 'user-agent': 'Mozilla/5.0 wxwork/4.1 MicroMessenger/7.0.1 Language/zh' };

const { server, fixture, open: start } = useIdentityFixture();

const open = async (options: IdentityFixtureOptions = { signIn: { proof: ['same-id'] } }) => await start(options);
const outcomeOf = ({ text }: Answer) => /<html\b[^>]*\bdata-outcome="([^"]*)"/.exec(text)?.[1];

/** Returns the link that the chat shows to a person who asks again, as a turn does, without forcing a new link. */
async function shownLink(askedBy: string): Promise<string> {
  const request = {
    ...fixture.owner,
    chatUserId: '20001',
    conversation: CONVERSATION,
    language: 'en',
    askedBy,
  } as const;
  const asked = await fixture.identity.inviteToSignIn(request);
  return 'url' in asked ? (asked.url ?? '') : asked.kind;
}
const statusOf = async (link: string) => (await fixture.browser('20001').get(link)).status;

describe('a person who declines at the sign-in service', () => {
  test('reads that nothing was connected, as a choice and not as a fault, and can try again', async () => {
    await open();
    const browser = fixture.browser('20001');
    fixture.service.denies = true;
    const declined = await fixture.walkToConfirm(browser, await fixture.link('20001'));
    expect([declined.status, outcomeOf(declined)]).toEqual([200, 'declined']);
    expect(declined.text).toContain('No account was connected');
    fixture.service.denies = false;
    const confirm = await browser.follow(await browser.submit(declined, '/sign-in/again'));
    expect(outcomeOf(await browser.submit(confirm, '/sign-in/confirm'))).toBe('done');
    expect(fixture.events).toContain('link-declined');
  });

  test('ends no sign-in without our state, since such a refusal may be forged', async () => {
    await open();
    const browser = fixture.browser('20001');
    const started = await browser.submit(await browser.get(await fixture.link('20001')));
    const callback = await browser.follow(started, /\/oauth\/callback/);
    expect(outcomeOf(await browser.get(`${fixture.url}/oauth/callback?error=access_denied`))).toBe('declined');
    expect((await browser.get(String(callback.headers['location']))).status).toBe(303);
  });
});

describe('the link of an invitation', () => {
  test('is the same one while unopened, and while a browser is signing in with it', async () => {
    await open();
    const first = await shownLink('turn-1');
    expect(first).toContain('/link/');
    expect(await shownLink('turn-2')).toBe(first);
    const browser = fixture.browser('20001');
    const confirm = await fixture.walkToConfirm(browser, first);
    expect(await shownLink('turn-3')).toBe(first);
    expect(outcomeOf(await browser.submit(confirm, '/sign-in/confirm'))).toBe('done');
  });

  test('is replaced shortly before it expires', async () => {
    await open();
    const first = await shownLink('turn-1');
    fixture.clock.nowMs += 9 * MINUTE_MS;
    const second = await shownLink('turn-2');
    expect(second).not.toBe(first);
    expect(await statusOf(second)).toBe(200);
  });

  test('is replaced after an attempt that came to nothing: denied, another person’s, cancelled, or given up', async () => {
    await open();
    const tries: Record<string, (link: string) => Promise<unknown>> = {
      denied: async (link) => {
        fixture.service.denies = true;
        await fixture.walkToConfirm(fixture.browser('20001'), link);
        fixture.service.denies = false;
      },
      'somebody else’s': (link) => fixture.walkToConfirm(fixture.browser('20002'), link),
      cancelled: async (link) => {
        const browser = fixture.browser('20001');
        await browser.submit(await fixture.walkToConfirm(browser, link), '/sign-in/cancel');
      },
      'given up': async (link) => {
        const browser = fixture.browser('20001');
        await browser.submit(await browser.get(link));
        // Simulates the end of the five minutes at the service.
        await server.redis.del(...(await server.redis.keys('{id}:transaction:*')));
      },
    };
    for (const [name, tried] of Object.entries(tries)) {
      const used = await shownLink(`before ${name}`);
      await tried(used);
      const next = await shownLink(`after ${name}`);
      expect([name, next === used, await statusOf(next)]).toEqual([name, false, 200]);
      await server.redis.del(...(await server.redis.keys('{id}:minted:*')));
    }
  });

  test('is replaced if an earlier version minted it without recording its source', async () => {
    await open();
    const first = await shownLink('turn-1');
    for (const ticket of await server.redis.keys('{id}:ticket:*')) await server.redis.hdel(ticket, 'madeOf');
    const second = await shownLink('turn-2');
    expect([second === first, await statusOf(first), await statusOf(second)]).toEqual([false, 410, 200]);
  });
});

test('a link opened outside the app says so before it is used up, and stays valid in the app', async () => {
  await open({ platform: { needsAppBrowser: true } });
  const link = await fixture.link('20001');
  const outside = fixture.browser('20001', '20001');
  const page = await outside.get(link);
  expect([page.status, page.text.includes('<form')]).toEqual([200, false]);
  expect(page.text).toContain('Open this link in WeCom');
  const forced = await outside.send('POST', `${link}/start`, { form: { csrf: 'x' } });
  expect(forced.status).toBe(403);
  const inApp = fixture.browser('20001', '20001');
  const landing = await inApp.get(link, IN_APP);
  const confirm = await inApp.follow(await inApp.submit(landing, undefined, IN_APP));
  expect(outcomeOf(await inApp.submit(confirm, '/sign-in/confirm'))).toBe('done');
});

test('a form submitted outside the app does not use up the link either', async () => {
  await open({ platform: { needsAppBrowser: true } });
  const link = await fixture.link('20001');
  const browser = fixture.browser('20001', '20001');
  const landing = await browser.get(link, IN_APP);
  expect((await browser.submit(landing)).text).toContain('The link is still valid');
  expect((await browser.submit(landing, undefined, IN_APP)).status).toBe(200);
});

test('every closing page leads back: the app’s browser with a button that closes it, others in words', async () => {
  await open();
  const seen: Record<string, Answer> = {};
  for (const headers of [IN_APP, {}] as Record<string, string>[]) {
    const browser = fixture.browser('20001');
    const where = 'user-agent' in headers ? 'app' : 'elsewhere';
    seen[`error ${where}`] = await browser.get(`${fixture.url}/link/x`, headers);
    seen[`returned ${where}`] = await browser.get(`${fixture.url}/oauth/callback`, headers);
    const cancelled = fixture.browser('20001');
    const confirm = await fixture.walkToConfirm(cancelled, await fixture.link('20001', true));
    seen[`cancelled ${where}`] = await cancelled.submit(confirm, '/sign-in/cancel', headers);
    const done = await fixture.walkToConfirm(browser, await fixture.link('20001', true));
    seen[`done ${where}`] = await browser.submit(done, '/sign-in/confirm', headers);
  }
  for (const [name, page] of Object.entries(seen)) {
    const [outcome, where] = name.split(' ');
    const isInApp = where === 'app';
    const policy = String(page.headers['content-security-policy']);
    expect([name, outcomeOf(page), page.text.includes('data-back="wecom"')]).toEqual([name, outcome, isInApp]);
    expect([name, page.text.includes('<script'), policy.includes("script-src 'self';")]).toEqual([
      name,
      isInApp,
      isInApp,
    ]);
    expect(policy).not.toContain('unsafe');
  }
  const script = await fixture.browser('20001').get(`${fixture.url}/assets/back-to-chat.js`);
  expect([script.status, script.headers['content-type']]).toEqual([200, 'text/javascript; charset=utf-8']);
});

/** Queries on a return that did not start with a sign-in here: nothing, or parameters that services always add. */
const BROUGHT = ['', '?ticket=ST-1-abc', '?lang=zh', '?x=1&x=2'];

test.each(BROUGHT)(
  'signing out and in again at the service ends on a page that says what is so: %j [unlink-ends-all]',
  async (brought) => {
    await open();
    const back = `${fixture.url}/oauth/callback${brought}`;
    const page = await fixture.browser('20001').get(back);
    expect([page.status, outcomeOf(page)]).toEqual([200, 'returned']);
    expect(page.text).toContain('You are back from Example University');
    expect(page.text).toContain('no chat account was connected');
    const chinese = await fixture.browser('20001').get(back, { 'accept-language': 'zh-CN' });
    expect([outcomeOf(chinese), chinese.text.includes('未绑定任何聊天账号')]).toEqual(['returned', true]);
    // A browser that is signing in must return with a result: a return without one is refused and does not end the sign-in.
    const browser = fixture.browser('20001', '20001');
    const started = await browser.submit(await browser.get(await fixture.link('20001')));
    expect((await browser.get(back)).status).toBe(400);
    const confirm = await browser.follow(started);
    expect((await browser.submit(confirm, '/sign-in/confirm')).text).toContain('You are signed in');
  },
);

test.each(['?code=', '?code=x&ticket=y', '?state=x', '?error=server_error', `?x=${'y'.repeat(5_000)}`])(
  'refuses a return with sign-in parameters in a browser that started no sign-in: %j',
  async (query) => {
    await open();
    const page = await fixture.browser('20001').get(`${fixture.url}/oauth/callback${query}`);
    expect([page.status, outcomeOf(page)]).toEqual([400, 'error']);
  },
);

test('the pages promise an answer only if a question is waiting', async () => {
  const says: Record<WaitsFor, [string, string]> = {
    private: ['Return to the chat to see the answer.', 'Return to the chat; your question is being answered.'],
    group: ['Return to the chat to see the answer.', 'Return to the group; your question is being answered there.'],
    'too-old-in-group': ['Return to the chat.', 'Return to the group and ask again'],
    nothing: ['Return to the chat.', 'You can go back to the chat now.'],
  };
  for (const [waits, [before, after]] of Object.entries(says)) {
    await open({
      signIn: { proof: ['same-id'] },
      chat: { findHeldMessages: () => Promise.resolve(waits as WaitsFor) },
    });
    const browser = fixture.browser('20001');
    const link = await fixture.link('20001');
    expect((await browser.get(link)).text).toContain(before);
    const done = await fixture.walk(browser, link);
    expect([waits, done.text.includes(after)]).toEqual([waits, true]);
    // The reopened page says the same.
    expect((await browser.get(`${fixture.url}/sign-in/confirm`)).text).toContain(after);
    await fixture.close();
  }
  await open();
});
