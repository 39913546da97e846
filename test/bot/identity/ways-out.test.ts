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

/** What the chat shows who asks again: as a turn does, without forcing a new link. */
async function shownLink(askedBy: string): Promise<string> {
  const request = {
    ...fixture.owner,
    chatUserId: '20001',
    conversation: CONVERSATION,
    language: 'en',
    askedBy,
  } as const;
  const asked = await fixture.identity.askToSignIn(request);
  return 'url' in asked ? (asked.url ?? '') : asked.kind;
}
const statusOf = async (link: string) => (await fixture.browser('20001').get(link)).status;

describe('who says no at the sign-in service', () => {
  test('reads that nothing was connected, as a choice and not as a fault, and can change their mind', async () => {
    await open();
    const browser = fixture.browser('20001');
    fixture.service.denies = true;
    const declined = await fixture.walkToConfirm(browser, await fixture.link('20001'));
    expect([declined.status, outcomeOf(declined)]).toEqual([200, 'declined']);
    expect(declined.text).toContain('Nothing was connected');
    fixture.service.denies = false;
    const confirm = await browser.follow(await browser.submit(declined, '/sign-in/again'));
    expect(outcomeOf(await browser.submit(confirm, '/sign-in/confirm'))).toBe('done');
    expect(fixture.events).toContain('link-declined');
  });

  test('a refusal without our state ends nothing: it may be forged', async () => {
    await open();
    const browser = fixture.browser('20001');
    const started = await browser.submit(await browser.get(await fixture.link('20001')));
    const callback = await browser.follow(started, /\/oauth\/callback/);
    expect(outcomeOf(await browser.get(`${fixture.url}/oauth/callback?error=access_denied`))).toBe('declined');
    expect((await browser.get(String(callback.headers['location']))).status).toBe(303);
  });
});

describe('every invitation shows a link that works', () => {
  test('the same one while nobody has opened it, and while a browser is signing in with it', async () => {
    await open();
    const first = await shownLink('turn-1');
    expect(first).toContain('/link/');
    expect(await shownLink('turn-2')).toBe(first);
    const browser = fixture.browser('20001');
    const confirm = await fixture.walkToConfirm(browser, first);
    expect(await shownLink('turn-3')).toBe(first);
    expect(outcomeOf(await browser.submit(confirm, '/sign-in/confirm'))).toBe('done');
  });

  test('another one once it is nearly over', async () => {
    await open();
    const first = await shownLink('turn-1');
    fixture.clock.nowMs += 9 * MINUTE_MS;
    const second = await shownLink('turn-2');
    expect(second).not.toBe(first);
    expect(await statusOf(second)).toBe(200);
  });

  test('another one after a try that came to nothing: denied, somebody else’s, cancelled, or given up', async () => {
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
        // As when the five minutes of a trip to the service are over.
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

  test('one that was made by a version that did not note what of takes a new one’s place', async () => {
    await open();
    const first = await shownLink('turn-1');
    for (const ticket of await server.redis.keys('{id}:ticket:*')) await server.redis.hdel(ticket, 'madeOf');
    const second = await shownLink('turn-2');
    expect([second === first, await statusOf(first), await statusOf(second)]).toEqual([false, 410, 200]);
  });
});

test('a link that is opened outside the app says so before anything is used up, and stays good in the app', async () => {
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
  // A browser that had the form in the app and presses its button elsewhere is told the same.
  expect(outcomeOf(await inApp.submit(confirm, '/sign-in/confirm'))).toBe('done');
});

test('the button pressed outside the app uses nothing up either', async () => {
  await open({ platform: { needsAppBrowser: true } });
  const link = await fixture.link('20001');
  const browser = fixture.browser('20001', '20001');
  const landing = await browser.get(link, IN_APP);
  expect((await browser.submit(landing)).text).toContain('the link stays good');
  expect((await browser.submit(landing, undefined, IN_APP)).status).toBe(303);
});

test('every closing page leads back: the app’s own browser by a button that closes it, others by words', async () => {
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

/** What services bring when somebody comes back who did not leave to sign in here: nothing, or what they always add. */
const BROUGHT = ['', '?ticket=ST-1-abc', '?lang=zh', '?x=1&x=2'];

test.each(BROUGHT)(
  'signing out at the service, and in again there, ends on a page that says what is so: %j [unlink-ends-all]',
  async (brought) => {
    await open();
    const back = `${fixture.url}/oauth/callback${brought}`;
    const page = await fixture.browser('20001').get(back);
    expect([page.status, outcomeOf(page)]).toEqual([200, 'returned']);
    expect(page.text).toContain('You are back from Example University');
    expect(page.text).toContain('no chat account was connected here');
    const chinese = await fixture.browser('20001').get(back, { 'accept-language': 'zh-CN' });
    expect([outcomeOf(chinese), chinese.text.includes('没有绑定任何聊天账号')]).toEqual(['returned', true]);
    // A browser that is signing in has something to bring: a way back that lost it is none, and ends nothing.
    const browser = fixture.browser('20001', '20001');
    const started = await browser.submit(await browser.get(await fixture.link('20001')));
    expect((await browser.get(back)).status).toBe(400);
    const confirm = await browser.follow(started);
    expect((await browser.submit(confirm, '/sign-in/confirm')).text).toContain('You are signed in');
  },
);

test.each(['?code=', '?code=x&ticket=y', '?state=x', '?error=server_error', `?x=${'y'.repeat(5_000)}`])(
  'a return that has to do with a sign-in, in a browser that began none, is refused: %j',
  async (query) => {
    await open();
    const page = await fixture.browser('20001').get(`${fixture.url}/oauth/callback${query}`);
    expect([page.status, outcomeOf(page)]).toEqual([400, 'error']);
  },
);

test('the pages promise an answer only where a question waits', async () => {
  const says: Record<WaitsFor, [string, string]> = {
    private: ['Back in the chat, your question is answered.', 'Go back to the chat; your question is being answered.'],
    group: [
      'Back in the chat, your question is answered.',
      'Go back to the group; your question is being answered there.',
    ],
    'too-old-in-group': ['You go back to the chat.', 'Go back and ask again in the group'],
    nothing: ['You go back to the chat.', 'You can go back to the chat now.'],
  };
  for (const [waits, [before, after]] of Object.entries(says)) {
    await open({
      signIn: { proof: ['same-id'] },
      chat: { lookForHeld: () => Promise.resolve(waits as WaitsFor) },
    });
    const browser = fixture.browser('20001');
    const link = await fixture.link('20001');
    expect((await browser.get(link)).text).toContain(before);
    const done = await fixture.walk(browser, link);
    expect([waits, done.text.includes(after)]).toEqual([waits, true]);
    // Opened again, it says the same.
    expect((await browser.get(`${fixture.url}/sign-in/confirm`)).text).toContain(after);
    await fixture.close();
  }
  await open();
});
