import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { DIALECTS } from './providers/dialects.ts';
import { TestBrowser } from './test-browser.ts';
import { useIdentityFixture, type OpenOptions } from './use-identity-fixture.ts';
import { tries } from '../../support/tries.ts';

const { server, fixture, open: start } = useIdentityFixture();

const account = (chatUserId: string) => fixture.identity.accountOf(fixture.owner, chatUserId);

async function startedAt(browser: TestBrowser): Promise<URL> {
  const started = await browser.submit(await browser.get(await fixture.link('20001', true)));
  const atService = await browser.follow(started, /\/oauth\/callback/);
  return new URL(String(atService.headers['location']));
}

describe.each(DIALECTS)('callbacks, with %s', (dialect) => {
  const open = (options: OpenOptions = {}) => start({ dialect, ...options });
  /** Only the OAuth 2.0 service may omit `state`, if the deployment allows it. */
  const modes = dialect === 'oauth2' ? (['required', 'absent'] as const) : (['required'] as const);

  /** Invalid states, except a missing one. */
  const wrongState = fc.oneof(
    fc.constantFrom('x', '0'.repeat(64), 'a&state=a', '%00', ' '),
    fc.string({ minLength: 1, maxLength: 80 }),
    fc.record({ cut: fc.nat(63), more: fc.constantFrom('', '0', ' ') }),
  );

  for (const state of modes) {
    test(`${state}: refuses an invalid, empty or repeated state without exchanging the code [state-by-mode]`, async () => {
      await open({ signIn: { proof: ['same-id'], state } });
      const browser = fixture.browser('20001');
      const how = fc.constantFrom('replace' as const, 'append' as const, 'empty' as const);
      await fc.assert(
        fc.asyncProperty(wrongState, how, async (wrong, kind) => {
          await server.redis.flushdb();
          const callback = await startedAt(browser);
          const right = callback.searchParams.get('state') ?? '';
          callback.searchParams.delete('state');
          const text = typeof wrong === 'string' ? wrong : `${right.slice(0, wrong.cut)}${wrong.more}`;
          // A state that is cut and padded can be the right one by chance.
          fc.pre(text !== right);
          const query = { replace: encodeURIComponent(text), append: `${right}&state=${right}`, empty: '' }[kind];
          const page = await browser.get(`${callback.href}&state=${query}`);
          expect(page.status).toBe(400);
          expect(fixture.provider.seen.codes).toEqual([]);
          // Removing the state afterwards does not help: the invalid state has consumed the transaction.
          if (kind === 'replace' && text !== '') expect((await browser.get(callback.href)).status).toBe(400);
        }),
        { numRuns: tries(25) },
      );
    });
  }

  test('refuses a return in another browser, without cookies or by POST, with advice and without a link [other-browser]', async () => {
    await open({ signIn: { proof: ['same-id'] } });
    const browser = fixture.browser('20001');
    const callback = await startedAt(browser);
    const before = await server.redis.dbsize();
    const texts = { en: 'stay in one browser and allow cookies', zh: '请在同一个浏览器中完成登录，并允许 Cookie' };
    for (const [language, text] of Object.entries(texts)) {
      const headers = { 'accept-language': language };
      const form = Object.fromEntries(callback.searchParams);
      const target = `${callback.origin}${callback.pathname}`;
      const returns = [
        fixture.browser('20001').send('GET', callback.href, { headers }),
        // The app's browser started another sign-in before the system browser opened.
        (await startedElsewhere()).send('GET', callback.href, { headers }),
        new TestBrowser().send('POST', target, { headers, form }),
        browser.send('POST', target, { headers: { ...headers, origin: 'https://id.example' }, form }),
        browser.send('POST', callback.href, { headers }),
      ];
      for (const page of await Promise.all(returns)) {
        expect([page.status, page.text.includes(text)]).toEqual([400, true]);
        expect(page.text).not.toContain(callback.searchParams.get('code') ?? 'OC-');
      }
    }
    expect(fixture.provider.seen.codes).toEqual([]);
    expect(await server.redis.keys('{id}:link:*')).toEqual([]);
    expect(await server.redis.dbsize()).toBeGreaterThanOrEqual(before);
    // The browser that started the sign-in can still finish.
    const page = await browser.follow(await browser.get(callback.href));
    expect(page.text).toContain('Person 20001');

    async function startedElsewhere(): Promise<TestBrowser> {
      const other = fixture.browser('20002');
      await other.submit(await other.get(await fixture.link('20002', true)));
      return other;
    }
  });

  test('HEAD of a callback consumes neither the code nor the sign-in [opening-changes-nothing]', async () => {
    await open({ signIn: { proof: ['same-id'] } });
    const browser = fixture.browser('20001');
    const callback = await startedAt(browser);
    for (const method of ['HEAD', 'OPTIONS'] as const) await browser.send(method, callback.href);
    expect(fixture.provider.seen.codes).toEqual([]);
    expect((await browser.follow(await browser.get(callback.href))).text).toContain('Person 20001');
  });

  test('a missing state is refused in required mode and accepted in absent mode [state-by-mode]', async () => {
    for (const state of modes) {
      const expected = state === 'required' ? 400 : 303;
      await open({ signIn: { proof: ['same-id'], state } });
      const browser = fixture.browser('20001');
      const callback = await startedAt(browser);
      callback.searchParams.delete('state');
      const page = await browser.get(callback.href);
      expect(page.status).toBe(expected);
      expect(fixture.provider.seen.codes).toHaveLength(state === 'absent' ? 1 : 0);
      if (state !== modes.at(-1)) await fixture.close();
    }
  });

  test('the transaction of one sign-in is refused at the callback of the other [transaction-taken-once]', async () => {
    await open({ signIn: { proof: ['same-id'] } });
    const browser = fixture.browser('20001', '20001');
    const state = (await startedAt(browser)).searchParams.get('state') ?? '';
    const code = fixture.platform.codeFor('20001');
    const page = await browser.get(`${fixture.url}/oauth/platform/wecom/callback?code=${code}&state=${state}`);
    expect(page.status).toBe(400);
  });

  test('refuses a sign-in that started before same-browser was required', async () => {
    await open({ signIn: { proof: ['same-id'] } });
    const browser = fixture.browser('20001');
    const callback = await startedAt(browser);
    fixture.options.signIn.rules.proof = ['same-browser'];
    expect((await browser.get(callback.href)).status).toBe(400);
    expect(fixture.provider.seen.codes).toEqual([]);
  });

  test('20 identical parallel callbacks make one token request [transaction-taken-once]', async () => {
    await open({ signIn: { proof: ['same-id'] } });
    const browser = fixture.browser('20001');
    const callback = await startedAt(browser);
    const pages = await Promise.all(Array.from({ length: 20 }, () => browser.get(callback.href)));
    expect(fixture.provider.seen.codes).toHaveLength(1);
    expect(pages.map(({ status }) => status).sort()).toEqual([303, ...Array.from({ length: 19 }, () => 400)]);
    expect((await browser.get(callback.href)).status).toBe(400);
  });

  test('refuses a callback without a transaction, without a cookie, or over-long', async () => {
    await open();
    const code = fixture.provider.mintCode('20001');
    const { returns } = fixture.provider;
    for (const query of [code, `${code}&${returns}=${code}`, '', 'x'.repeat(3_073)]) {
      expect((await new TestBrowser().get(`${fixture.url}/oauth/callback?${returns}=${query}`)).status).toBe(400);
    }
    expect(fixture.provider.seen.codes).toEqual([]);
  });

  test('shows no text of an error from the service, and leaves the sign-in usable [plain-callbacks]', async () => {
    await open({ signIn: { proof: ['same-id'] } });
    const browser = fixture.browser('20001');
    const callback = await startedAt(browser);
    const page = await browser.get(
      `${fixture.url}/oauth/callback?error=server_error&error_description=%3Cb%3Ehello%3C/b%3E`,
    );
    expect(page.status).toBe(502);
    expect(page.text).not.toContain('hello');
    expect(page.text).toContain('Try again');
    expect((await browser.get(callback.href)).status).toBe(303);
  });

  test('removes the code from the address bar and from referrers [code-leaves-the-address]', async () => {
    await open({ signIn: { proof: ['same-id'] } });
    const browser = fixture.browser('20001');
    const answer = await browser.get((await startedAt(browser)).href);
    expect(answer.headers).toMatchObject({ location: '/sign-in/confirm', 'referrer-policy': 'no-referrer' });
  });
});

describe('callbacks of a service that returns no state', () => {
  const open = start;

  test('absent: accept a state that the service does return', async () => {
    await open({ signIn: { proof: ['same-id'], state: 'absent' } });
    const page = await fixture.walk(fixture.browser('20001'), await fixture.link('20001'));
    expect(page.text).toContain('You are signed in');
  });

  test('absent with same-browser alone: nothing is linked before a confirmation page with the name [state-by-mode] [confirmed-by-name]', async () => {
    await open({ signIn: { state: 'absent' } });
    fixture.service.echoesState = false;
    const browser = fixture.browser('20001', '20001');
    const started = await browser.submit(await browser.get(await fixture.link('20001')));
    await browser.follow(started, /\/oauth\/callback/);
    // An attacker injects the code of their own account.
    const injected = await browser.get(`${fixture.url}/oauth/callback?code=${fixture.service.mintCode('attacker')}`);
    expect(injected.headers['location']).toBe('/sign-in/confirm');
    const confirm = await browser.follow(injected);
    expect(confirm.text).toContain('Person attacker');
    expect(await account('20001')).toBeUndefined();
    expect((await browser.submit(confirm, '/sign-in/cancel')).text).toContain('No account was connected');
    expect(await account('20001')).toBeUndefined();
  });

  test('absent with same-id: an injected code of another person is not linked [same-id]', async () => {
    await open({ signIn: { proof: ['same-id'], state: 'absent' } });
    fixture.service.echoesState = false;
    const browser = fixture.browser('20001');
    await startedAt(browser);
    const page = await browser.get(`${fixture.url}/oauth/callback?code=${fixture.service.mintCode('attacker')}`);
    expect(page.status).toBe(403);
    expect(await account('20001')).toBeUndefined();
  });

  test('absent: the platform’s callback still requires its state', async () => {
    await open({ signIn: { state: 'absent' } });
    const browser = fixture.browser('20001', '20001');
    await browser.submit(await browser.get(await fixture.link('20001')));
    const code = fixture.platform.codeFor('20001');
    expect((await browser.get(`${fixture.url}/oauth/platform/wecom/callback?code=${code}`)).status).toBe(400);
  });
});
