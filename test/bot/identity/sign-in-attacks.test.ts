import { describe, expect, test } from '@jest/globals';
import { tries } from '../../support/tries.ts';
import { DIALECTS } from './providers/dialects.ts';
import { CONVERSATION } from './identity-fixture.ts';
import { TestBrowser, type Answer } from './test-browser.ts';
import { useIdentityFixture, type OpenOptions } from './use-identity-fixture.ts';

const { server, fixture, open: start } = useIdentityFixture();

/** 1,000 in long test runs. */
const VISITS = tries(200);
const account = (chatUserId: string) => fixture.identity.accountOf(fixture.owner, chatUserId);

describe.each(DIALECTS)('with %s', (dialect) => {
  const open = (options: OpenOptions = {}) => start({ dialect, ...options });

  describe('opening a link changes nothing [opening-changes-nothing]', () => {
    test(`${VISITS} GETs and HEADs by previewers leave the link unchanged`, async () => {
      await open();
      const link = await fixture.link('20001');
      const before = await snapshot();
      for (let round = 0; round < VISITS / 50; round += 1) {
        const visits = Array.from({ length: 50 }, (_, index) =>
          new TestBrowser().send(index % 5 === 0 ? 'HEAD' : 'GET', link, {
            headers: { 'user-agent': 'Previewer/1.0' },
          }),
        );
        expect((await Promise.all(visits)).every(({ status }) => status === 200)).toBe(true);
      }
      expect(await snapshot()).toEqual(before);
      expect((await fixture.walk(fixture.browser('20001', '20001'), link)).text).toContain('You are signed in');
    });

    test.each([
      'Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)',
      'Mozilla/5.0 (compatible; MSOffice SafeLinks scanner)',
      'Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) wxwork/4.1 MicroMessenger/7.0',
    ])('%s can send GET, HEAD, OPTIONS and prefetch requests and follow every redirect', async (userAgent) => {
      await open();
      const link = await fixture.link('20001');
      const before = await snapshot();
      const headers = { 'user-agent': userAgent, purpose: 'prefetch', 'sec-purpose': 'prefetch', 'x-moz': 'prefetch' };
      const scanner = new TestBrowser();
      await Promise.all(
        (['GET', 'HEAD', 'OPTIONS', 'GET'] as const).map((method) => scanner.send(method, link, { headers })),
      );
      // A second visit, with the cookie of the first one.
      await scanner.follow(await scanner.send('GET', link, { headers }));
      expect(await snapshot()).toEqual(before);
      expect((await fixture.walk(fixture.browser('20001', '20001'), link)).text).toContain('You are signed in');
    });

    test('HEAD has the headers of GET', async () => {
      await open();
      const link = await fixture.link('20001');
      const [head, get] = [await new TestBrowser().send('HEAD', link), await new TestBrowser().get(link)];
      for (const name of ['content-security-policy', 'cache-control', 'content-type', 'referrer-policy']) {
        expect(head.headers[name]).toBe(get.headers[name]);
      }
    });

    async function snapshot(): Promise<unknown> {
      const names = (await server.redis.keys('*')).filter((name) => !name.includes(':visits:')).sort();
      const tickets = names.filter((name) => name.includes(':ticket:'));
      return [names, await Promise.all(tickets.map((name) => server.redis.hgetall(name)))];
    }
  });

  describe('only our own form starts a sign-in [same-origin-forms]', () => {
    const wrong: [string, (browser: TestBrowser, link: string) => Promise<number>][] = [
      ['no token', async (browser, link) => (await browser.send('POST', `${link}/start`, { form: { a: 'b' } })).status],
      ['no cookie', async (browser, link) => (await withoutCookie(browser, link)).status],
      ['another cookie', async (browser, link) => (await new TestBrowser().submit(await browser.get(link))).status],
      ['a foreign Origin', async (browser, link) => submitWith(browser, link, { origin: 'https://evil.test' })],
      ['Origin null', async (browser, link) => submitWith(browser, link, { origin: 'null' })],
      [
        'Sec-Fetch-Site cross-site',
        async (browser, link) => submitWith(browser, link, { 'sec-fetch-site': 'cross-site' }),
      ],
      ['the token of another link', async (browser, link) => (await otherToken(browser, link)).status],
      [
        'a body that is JSON',
        async (browser, link) => submitWith(browser, link, { 'content-type': 'application/json' }),
      ],
    ];
    for (const [what, attempt] of wrong) {
      test(`a request with ${what} gets page-expired and changes nothing`, async () => {
        await open();
        const link = await fixture.link('20001');
        expect(await attempt(fixture.browser('20001', '20001'), link)).toBe(403);
        expect(fixture.events).not.toContain('link-started');
      });
    }

    test('accepts web views that send neither Origin nor Sec-Fetch-Site', async () => {
      await open();
      const browser = fixture.browser('20001', '20001');
      const landing = await browser.get(await fixture.link('20001'));
      const token = /name="csrf" value="([0-9a-f]+)"/.exec(landing.text)?.[1] ?? '';
      expect((await browser.send('POST', `${landing.url}/start`, { form: { csrf: token } })).status).toBe(200);
    });

    test('confirming needs our form as well', async () => {
      await open();
      const browser = fixture.browser('20001', '20001');
      const confirm = await fixture.walkToConfirm(browser, await fixture.link('20001'));
      expect((await browser.submit(confirm, '/sign-in/confirm', { origin: 'https://evil.test' })).status).toBe(403);
      expect((await browser.send('POST', confirm.url, { form: { csrf: 'f'.repeat(64) } })).status).toBe(403);
      expect((await new TestBrowser().send('POST', confirm.url, { form: {} })).status).toBe(403);
      expect(await account('20001')).toBeUndefined();
    });

    async function submitWith(browser: TestBrowser, link: string, headers: Record<string, string>): Promise<number> {
      return (await browser.submit(await browser.get(link), undefined, headers)).status;
    }

    async function withoutCookie(browser: TestBrowser, link: string) {
      const landing = await browser.get(link);
      browser.cookies.clear();
      return browser.submit(landing);
    }

    async function otherToken(browser: TestBrowser, link: string) {
      const other = await browser.get(await fixture.link('20002'));
      return browser.submit({ ...other, text: other.text.replaceAll(/action="[^"]*"/g, `action="${link}/start"`) });
    }
  });

  describe('a link belongs to one browser', () => {
    test('refuses a second browser before and after the sign-in (link-used-up) [one-transaction]', async () => {
      await open();
      const link = await fixture.link('20001');
      const [first, second] = [fixture.browser('20001', '20001'), fixture.browser('20002', '20001')];
      const [firstPage, secondPage] = [await first.get(link), await second.get(link)];
      const started = await first.submit(firstPage);
      expect((await second.submit(secondPage)).status).toBe(410);
      expect((await second.get(link)).status).toBe(410);
      expect((await first.submit(await first.follow(started), '/sign-in/confirm')).status).toBe(200);
      expect((await first.get(link)).status).toBe(410);
    });

    test('lets one of six browsers proceed that start in parallel', async () => {
      await open();
      const link = await fixture.link('20001');
      const browsers = Array.from({ length: 6 }, () => fixture.browser('20001', '20001'));
      const pages = await Promise.all(browsers.map((browser) => browser.get(link)));
      const starts = await Promise.all(browsers.map((browser, index) => browser.submit(pages[index] as Answer)));
      expect(starts.map(({ status }) => status).sort()).toEqual([200, 410, 410, 410, 410, 410]);
    });

    test('sets a cookie with every protection, and replaces it at the start [one-browser] [one-transaction]', async () => {
      await open();
      const browser = fixture.browser('20001', '20001');
      const landing = await browser.get(await fixture.link('20001'));
      const before = [...browser.cookies.values()];
      expect(String(landing.headers['set-cookie'])).toMatch(
        /^__Host-bs=[\w-]{43}; Path=\/; Max-Age=900; Secure; HttpOnly; SameSite=Lax$/,
      );
      await browser.submit(landing);
      expect([...browser.cookies.values()]).not.toEqual(before);
    });
  });

  describe('forwarded links [proof-of-person]', () => {
    test('with same-browser, 50 colleagues get no link, the service is not asked, and the owner is notified', async () => {
      await open();
      for (let index = 0; index < 50; index += 1) {
        const attacker = `attacker-${index}`;
        const victim = fixture.browser(`victim-${index}`, `victim-${index}`);
        const page = await fixture.walkToConfirm(victim, await fixture.link(attacker));
        expect(page.status).toBe(403);
        expect(page.text).toContain('belongs to a different chat account');
        expect(await account(attacker)).toBeUndefined();
        expect(fixture.notices.at(-1)).toMatchObject({
          person: { chatUserId: attacker },
          notice: { kind: 'someone-else-signed-in' },
        });
      }
      expect(fixture.notices).toHaveLength(50);
      expect(fixture.provider.seen.authorize).toHaveLength(0);
      expect(fixture.events.filter((event) => event === 'link-refused other-chat-account')).toHaveLength(50);
      expect(await server.redis.keys('{id}:link:*')).toEqual([]);
    });

    test('with same-browser, a person outside the company is another person', async () => {
      await open();
      expect((await fixture.walkToConfirm(fixture.browser('x', 'stranger'), await fixture.link('20001'))).status).toBe(
        403,
      );
      expect(fixture.notices.map(({ notice }) => notice.kind)).toEqual(['someone-else-signed-in']);
    });

    test('with same-id, nothing of the victim is stored, and the link is used up', async () => {
      await open({ signIn: { proof: ['same-id'] } });
      const link = await fixture.link('attacker');
      const victim = fixture.browser('20001');
      expect((await fixture.walkToConfirm(victim, link)).status).toBe(403);
      expect(await server.redis.keys('{id}:pending:*')).toEqual([]);
      expect((await victim.get(link)).status).toBe(410);
      expect(fixture.notices.map(({ person, notice }) => [person.chatUserId, notice.kind])).toEqual([
        ['attacker', 'someone-else-signed-in'],
      ]);
      expect(fixture.events).toContain('link-refused other-account');
    });

    test('compare an encrypted id after conversion, and refuse one that cannot be converted with a separate reason', async () => {
      const encryptedIds = { woAAA: '20001', woBBB: undefined };
      await open({ platform: { encryptedIds }, signIn: { proof: ['same-browser', 'same-id'] } });
      await fixture.walk(fixture.browser('20001', '20001'), await fixture.link('woAAA'));
      expect((await account('woAAA'))?.accountId).toBe('20001');
      const page = await fixture.walkToConfirm(fixture.browser('20002', '20002'), await fixture.link('woBBB'));
      expect(page.status).toBe(403);
      expect(page.text).toContain('could not be verified');
      expect(page.text).toContain('administrator');
      expect(fixture.events).toContain('link-refused id-unverifiable');
      expect(fixture.notices.map(({ notice }) => notice.kind)).toEqual(['linked']);
    });

    test('cannot skip same-browser by opening the service’s callback', async () => {
      await open();
      const browser = fixture.browser('20001', 'attacker');
      const started = await browser.submit(await browser.get(await fixture.link('20001')));
      expect(started.headers['location']).toContain('open.platform.test');
      const state = new URL(String(started.headers['location'])).searchParams.get('state') ?? '';
      const code = fixture.provider.mintCode('20001');
      const page = await browser.get(
        `${fixture.url}/oauth/callback?${fixture.provider.returns}=${code}&state=${state}`,
      );
      expect(page.status).toBe(400);
      expect(fixture.provider.seen.codes).toEqual([]);
    });
  });

  describe('records in Redis', () => {
    test('copied to another person cannot be decrypted: no account, and the link is suspended', async () => {
      await open();
      for (const id of ['20001', '20002']) await fixture.walk(fixture.browser(id, id), await fixture.link(id));
      const [one, two] = await server.redis.keys('{id}:link:*');
      const stolen = await server.redis.hget(one ?? '', 'profile');
      await server.redis.hset(two ?? '', 'profile', stolen ?? '', 'profileVersion', fixture.clock.nowMs);
      const accounts = await Promise.all(['20001', '20002'].map(account));
      expect(accounts.filter((one) => one !== undefined)).toHaveLength(1);
      expect(fixture.events).toContain('suspended record-broken');
      expect(await server.redis.hget(two ?? '', 'status')).toBe('suspended');
    });

    test('with a swapped quarantine are not committed', async () => {
      await open();
      const [mine, theirs] = [fixture.browser('20001', '20001'), fixture.browser('20002', '20002')];
      const confirm = await fixture.walkToConfirm(mine, await fixture.link('20001'));
      await fixture.walkToConfirm(theirs, await fixture.link('20002'));
      const names = await server.redis.keys('{id}:pending:*');
      const [first, second] = await server.redis.mget(names);
      await server.redis.mset(names[0] ?? '', second ?? '', names[1] ?? '', first ?? '');
      expect((await mine.submit(confirm, '/sign-in/confirm')).status).not.toBe(200);
      expect(await server.redis.keys('{id}:link:*')).toEqual([]);
    });
  });

  test('escapes markup and removes disguising characters in names', async () => {
    await open();
    const displayName = `<script>alert(1)</script>\u202Egnp.exe\u200B`;
    const request = {
      ...fixture.owner,
      chatUserId: '20001',
      displayName,
      conversation: CONVERSATION,
      language: 'en' as const,
    };
    const invitation = await fixture.identity.inviteToSignIn(request);
    const page = await new TestBrowser().get(invitation.kind === 'invited' ? invitation.url : '');
    expect(page.text).toContain('&lt;script&gt;alert(1)&lt;/script&gt;gnp.exe');
    expect(page.text).not.toContain('<script');
    expect(page.text).not.toMatch(/[\u202E\u200B]/);
  });

  test('no ticket, code, token, name or id appears in a log line [scrubbed-logs]', async () => {
    await open({ signIn: { proof: ['same-browser', 'same-id'], keepTokens: 'both' } });
    const browser = fixture.browser('zhang-san', 'zhang-san');
    const link = await fixture.link('zhang-san');
    await fixture.walk(browser, link);
    await fixture.walkToConfirm(fixture.browser('li-si', 'li-si'), await fixture.link('wang-wu'));
    const lines = fixture.lines.join('\n');
    expect(lines).toContain('"audit":true');
    const { seen, clientSecret } = fixture.provider;
    const secrets = [link.slice(-43), ...seen.codes, ...browser.cookies.values(), clientSecret || 'AT:', 'AT:', 'RT:'];
    for (const secret of [...secrets, 'zhang-san', 'wang-wu', 'li-si', 'Person', 'Display'])
      expect(lines).not.toContain(secret);
  });
});
