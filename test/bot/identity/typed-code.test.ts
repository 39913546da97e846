import { describe, expect, test } from '@jest/globals';
import { setTimeout as pause } from 'node:timers/promises';
import { DIALECTS } from './providers/dialects.ts';
import { CONVERSATION, type IdentityFixture } from './identity-fixture.ts';
import type { Answer, TestBrowser } from './test-browser.ts';
import { useIdentityFixture, type OpenOptions } from './use-identity-fixture.ts';

const { server, fixture, open: start } = useIdentityFixture();

const account = (chatUserId: string) => fixture.identity.accountOf(fixture.owner, chatUserId);
const codeOn = ({ text }: Answer) => /[0-9A-Z]{4}-[0-9A-Z]{4}/.exec(text)?.[0] ?? 'none';
const confirmUrl = () => `${fixture.url}/sign-in/confirm`;

let messages = 0;
/** Sends a chat message to the bot. Each message gets a unique id by default. */
function type(chatUserId: string, text: string, more: { chatKind?: 'private' | 'group'; messageId?: string } = {}) {
  const { identity, owner } = fixture;
  const messageId = `message-${(messages += 1)}`;
  return identity.redeemTypedCode({ owner, chatUserId, chatKind: 'private', text, messageId, ...more });
}

/** Walks to the page with the code, for a chat user and the account that signs in. */
async function walkToCode(
  chatUserId: string,
  signsInAs = chatUserId,
): Promise<{ browser: TestBrowser; page: Answer; link: string; code: string }> {
  const browser = fixture.browser(signsInAs);
  const link = await fixture.link(chatUserId, true);
  const page = await fixture.walk(browser, link);
  return { browser, page, link, code: codeOn(page) };
}

/** Another code of the same form. */
function otherThan(code: string): string {
  return `${code.slice(0, 8)}${code.endsWith('A') ? 'B' : 'A'}`;
}

async function storedAt(name: string): Promise<unknown> {
  const { redis } = server;
  const type = await redis.type(name);
  if (type === 'hash') return redis.hgetall(name);
  if (type === 'set') return redis.smembers(name);
  return type === 'zset' ? redis.zrange(name, 0, '-1') : redis.get(name);
}

describe.each(DIALECTS)('with %s', (dialect) => {
  async function open(options: OpenOptions = {}): Promise<IdentityFixture> {
    await start({ dialect, ...options, signIn: { proof: ['typed-code'], ...options.signIn } });
    return fixture;
  }

  describe('the whole sign-in by code [typed-code]', () => {
    test('shows the steps, links once the code is typed, and releases the held messages', async () => {
      await open();
      const browser = fixture.browser('20001');
      const link = await fixture.link('zhang-san');
      const landing = await browser.get(link);
      expect(landing.text).toContain('type it in your private chat');
      const confirm = await browser.follow(await browser.submit(landing));
      expect(confirm.text).toContain('Yes, show my code');
      const page = await browser.submit(confirm, '/sign-in/confirm');
      expect(page.status).toBe(200);
      expect(page.text).toContain('type this code in your private chat with the bot');
      expect(page.text).toContain('Never share this code with anyone; our staff will never ask for it.');
      expect(page.text).toContain('Valid for 5 minutes.');
      expect(page.text.match(/<script[^>]*>/g)).toEqual(['<script src="/assets/sign-in-code.js" defer>']);
      expect(page.headers['content-security-policy']).toMatch(/script-src 'self'; connect-src 'self'; form-action/);
      expect(codeOn(page)).toMatch(/^[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}$/);
      expect(await account('zhang-san')).toBeUndefined();
      expect(fixture.releases).toEqual([]);

      const outcome = await type('zhang-san', codeOn(page));
      expect(outcome).toEqual({
        kind: 'linked',
        name: 'Person 20001',
        maskedId: '2•••1',
        atMs: fixture.clock.nowMs,
        language: 'en',
      });
      expect((await account('zhang-san'))?.accountId).toBe('20001');
      expect(fixture.releases.map(({ conversation }) => conversation)).toEqual([CONVERSATION]);
      expect(fixture.events).toEqual(['link-asked', 'link-started', 'linked']);
      expect((await browser.get(confirmUrl())).text).toContain('You are signed in as Person 20001');
      // The reply to the code reports it, so no notice is sent.
      expect(fixture.notices).toEqual([]);
    });

    test('shows the same code again to the same browser, and stores only its HMAC', async () => {
      await open();
      const { browser, page, link, code } = await walkToCode('20001');
      const again = await browser.get(confirmUrl());
      expect(codeOn(again)).toBe(code);
      expect(again.text).toContain('The chat has not received this code yet.');
      expect(page.text).not.toContain('has not received');
      expect(codeOn(await browser.follow(await browser.get(link)))).toBe(code);
      expect((await fixture.browser('20001').get(link)).status).toBe(410);
      expect((await fixture.browser('20001').get(confirmUrl())).status).toBe(400);

      const names = await server.redis.keys('*');
      const stored = JSON.stringify([names, await Promise.all(names.map(storedAt))]);
      expect(stored).toContain('awaiting_code');
      for (const form of [code, code.replace('-', '')]) expect(stored).not.toContain(form);
      const endless = await Promise.all(names.map(async (name) => ((await server.redis.pttl(name)) < 0 ? name : '')));
      expect(endless.filter((name) => name !== '')).toEqual([]);
    });

    test('shows one code after a double click', async () => {
      await open();
      const browser = fixture.browser('20001');
      const confirm = await fixture.walkToConfirm(browser, await fixture.link('20001'));
      const pages = await Promise.all(Array.from({ length: 12 }, () => browser.submit(confirm, '/sign-in/confirm')));
      expect(new Set(pages.map(({ status }) => status))).toEqual(new Set([200]));
      expect(new Set(pages.map(codeOn)).size).toBe(1);
      expect((await type('20001', codeOn(pages[0] as Answer)))?.kind).toBe('linked');
    });

    test('invalidates the old code when a new one is shown, and shows at most three', async () => {
      await open();
      const { browser, page, code } = await walkToCode('20001');
      const replace = (shown: Answer) => browser.submit(shown, '/sign-in/new-code');
      const second = await replace(page);
      expect(codeOn(second)).not.toBe(code);
      // A second click on the first page does not replace the new code.
      expect(codeOn(await browser.follow(await replace(page)))).toBe(codeOn(second));
      const third = await replace(second);
      expect(third.text).not.toContain('/sign-in/new-code');
      expect(
        codeOn(await browser.follow(await replace({ ...second, text: second.text.replace('value="2"', 'value="3"') }))),
      ).toBe(codeOn(third));
      expect(await type('20001', code)).toMatchObject({ kind: 'wrong', triesLeft: 4 });
      expect(await type('20001', codeOn(second))).toMatchObject({ kind: 'wrong', triesLeft: 3 });
      expect((await type('20001', codeOn(third)))?.kind).toBe('linked');
    });

    test('requires our own form for a new code', async () => {
      await open();
      const { browser, page, code } = await walkToCode('20001');
      expect((await browser.submit(page, '/sign-in/new-code', { origin: 'https://evil.test' })).status).toBe(403);
      expect(codeOn(await browser.get(confirmUrl()))).toBe(code);
    });

    test('ends the ticket when the person cancels on the page of the code', async () => {
      await open();
      const { browser, page, code } = await walkToCode('20001');
      expect((await browser.submit(page, '/sign-in/cancel')).text).toContain('No account was connected');
      expect((await type('20001', code))?.kind).toBe('not-awaited');
      expect(await account('20001')).toBeUndefined();
    });

    test('takes no message if typed-code is not configured', async () => {
      await open({ signIn: { proof: ['same-id'] } });
      expect(await type('20001', '7K3M-9QXP')).toBeUndefined();
    });

    test('rejects typed-code in combination with another proof [proof-of-person]', async () => {
      await expect(open({ signIn: { proof: ['typed-code', 'same-id'] } })).rejects.toMatchObject({
        code: 'options_unsafe',
      });
      await expect(open({ signIn: { proof: ['same-browser', 'typed-code'] } })).rejects.toMatchObject({
        code: 'options_unsafe',
      });
    });
  });

  describe('the life of a code [typed-code]', () => {
    test('ends after five wrong tries, which invalidate the right code as well', async () => {
      await open();
      const { browser, code } = await walkToCode('20001');
      const wrong = otherThan(code);
      for (const triesLeft of [4, 3, 2, 1, 0])
        expect(await type('20001', wrong)).toEqual({ kind: 'wrong', triesLeft, language: 'en' });
      expect((await type('20001', code))?.kind).toBe('not-awaited');
      expect(await account('20001')).toBeUndefined();
      expect((await browser.get(confirmUrl())).status).toBe(400);
      expect(fixture.events).toContain('link-refused wrong-codes');
      expect(await fixture.link('20001')).toContain('/link/');
    });

    test('allows five comparisons out of 50 parallel tries', async () => {
      await open();
      const { code } = await walkToCode('20001');
      const tries = [...Array.from({ length: 49 }, () => otherThan(code)), code];
      const outcomes = await Promise.all(tries.map((text) => type('20001', text)));
      expect(outcomes.filter((outcome) => outcome?.kind === 'wrong')).toHaveLength(5);
      expect(outcomes.filter((outcome) => outcome?.kind === 'not-awaited')).toHaveLength(45);
      expect(await account('20001')).toBeUndefined();
    });

    test('ends after five minutes, after which a new link works', async () => {
      await open();
      const { browser, code } = await walkToCode('20001');
      // Redis keeps the ticket for ten more minutes, so that a late message gets the right reply.
      for (const name of await server.redis.keys('{id}:live:*'))
        expect(await server.redis.pttl(name)).toBeGreaterThan(890_000);
      fixture.clock.nowMs += 299_999;
      expect((await browser.get(confirmUrl())).status).toBe(200);
      fixture.clock.nowMs += 1;
      expect(await type('20001', code)).toEqual({ kind: 'code-expired', language: 'en' });
      expect(await account('20001')).toBeUndefined();
      expect((await browser.get(confirmUrl())).status).toBe(400);
      const request = { ...fixture.owner, chatUserId: '20001', conversation: CONVERSATION, language: 'en' as const };
      expect((await fixture.identity.inviteToSignIn(request)).kind).toBe('invited');
    });

    test('is five minutes from when the code is shown, however late that is', async () => {
      await open();
      const browser = fixture.browser('20001');
      const confirm = await fixture.walkToConfirm(browser, await fixture.link('20001'));
      fixture.clock.nowMs += 290_000;
      const page = await browser.submit(confirm, '/sign-in/confirm');
      fixture.clock.nowMs += 290_000;
      expect((await type('20001', codeOn(page)))?.kind).toBe('linked');
    });

    test('ends when /signin makes a new link', async () => {
      await open();
      const { code } = await walkToCode('20001');
      await fixture.link('20001', true);
      expect((await type('20001', code))?.kind).toBe('not-awaited');
      expect(await account('20001')).toBeUndefined();
    });

    test('includes no second link for a repeated question', async () => {
      await open();
      await walkToCode('20001');
      const request = { ...fixture.owner, chatUserId: '20001', conversation: CONVERSATION, language: 'en' as const };
      expect((await fixture.identity.inviteToSignIn(request)).kind).toBe('waiting');
    });
  });

  describe('codes from another person or in a group [typed-code]', () => {
    test('link nothing in another person’s private chat, are revoked, and notify their owner', async () => {
      await open();
      const { browser, link, code } = await walkToCode('attacker', 'victim');
      expect((await type('victim', code))?.kind).toBe('not-awaited');
      expect((await browser.get(link)).status).toBe(410);
      expect((await type('attacker', code))?.kind).toBe('not-awaited');
      expect([await account('attacker'), await account('victim')]).toEqual([undefined, undefined]);
      expect(fixture.notices).toMatchObject([
        { person: { chatUserId: 'attacker' }, notice: { kind: 'someone-else-signed-in' } },
      ]);
      expect(fixture.events).toContain('link-refused code-of-another');
    });

    test('count as a wrong try of a person who awaits another code, and are revoked', async () => {
      await open();
      const [mine, theirs] = [await walkToCode('20001'), await walkToCode('20002')];
      expect(await type('20001', theirs.code)).toMatchObject({ kind: 'wrong', triesLeft: 4 });
      expect((await type('20002', theirs.code))?.kind).toBe('not-awaited');
      expect((await type('20001', mine.code))?.kind).toBe('linked');
      expect(await account('20002')).toBeUndefined();
    });

    test.each(['20001', '20002'])('of 20001 that %s shows to a group are revoked at once', async (poster) => {
      await open();
      const { code } = await walkToCode('20001');
      const outcome = await type(poster, `my code is ${code}, is that right?`, { chatKind: 'group' });
      expect(outcome?.kind).toBe('seen-in-group');
      expect((await type('20001', code))?.kind).toBe('not-awaited');
      expect(await account('20001')).toBeUndefined();
      // The reply informs a person who showed their own code.
      expect(fixture.notices.map(({ notice }) => notice.kind)).toEqual(
        poster === '20001' ? [] : ['code-seen-in-group'],
      );
      expect(fixture.events).toContain('link-refused code-in-group');
    });

    test('end their sender’s ticket if mistyped in a group', async () => {
      await open();
      const { code } = await walkToCode('20001');
      await type('20001', 'A1B2-C3D4', { chatKind: 'group' });
      expect((await type('20001', code))?.kind).toBe('not-awaited');
    });

    test('are recognised in a group in lower case', async () => {
      await open();
      const { code } = await walkToCode('20001');
      expect((await type('20002', code.toLowerCase(), { chatKind: 'group' }))?.kind).toBe('seen-in-group');
      expect((await type('20001', code))?.kind).toBe('not-awaited');
    });

    test('are not confused with ordinary words of people who await no code', async () => {
      await open();
      await walkToCode('20001');
      for (const text of ['remember', 'Bergbahn', '20080117', 'windows7', 'What is part AB12-34CD for?']) {
        expect(await type('20002', text)).toBeUndefined();
        expect(await type('20002', text, { chatKind: 'group' })).toBeUndefined();
      }
      expect(await type('20001', 'remember the milk')).toBeUndefined();
    });

    test('are kept from the model in their exact form from any sender', async () => {
      await open();
      expect((await type('20002', 'a1b2-c3d4'))?.kind).toBe('not-awaited');
      expect((await type('20002', 'a1b2-c3d4', { chatKind: 'group' }))?.kind).toBe('seen-in-group');
    });
  });

  describe('the commit of a typed code [linked-in-one-step]', () => {
    test('refuses a chat that is linked to another account, and changes nothing', async () => {
      await open();
      expect((await type('chat', (await walkToCode('chat', '20001')).code))?.kind).toBe('linked');
      const { code } = await walkToCode('chat', '20002');
      expect(await type('chat', code)).toEqual({ kind: 'already-linked', language: 'en' });
      expect((await account('chat'))?.accountId).toBe('20001');
    });

    test('refuses an account of another chat user, and notifies the holder once', async () => {
      await open();
      await type('holder', (await walkToCode('holder', '20001')).code);
      const { code } = await walkToCode('other', '20001');
      const messageId = 'the-same';
      expect((await type('other', code, { messageId }))?.kind).toBe('held-elsewhere');
      expect((await type('other', code, { messageId }))?.kind).toBe('held-elsewhere');
      expect(await account('other')).toBeUndefined();
      expect(fixture.notices).toMatchObject([
        { person: { chatUserId: 'holder' }, notice: { kind: 'account-wanted-elsewhere' } },
      ]);
    });
  });

  describe('a repeated message with a code', () => {
    test('links once, and gets the same reply', async () => {
      await open();
      const { code } = await walkToCode('20001');
      const outcomes = [];
      for (let round = 0; round < 3; round += 1)
        outcomes.push(await type('20001', code, { messageId: 'the-same-right' }));
      expect(new Set(outcomes.map((outcome) => JSON.stringify(outcome))).size).toBe(1);
      expect(fixture.releases).toHaveLength(1);
      expect(fixture.events.filter((event) => event === 'linked')).toHaveLength(1);
      // The person types the code again in a new message.
      expect((await type('20001', code))?.kind).toBe('linked');
      expect((await type('20002', code))?.kind).not.toBe('linked');
      await type('20002', (await walkToCode('20002')).code);
      expect((await type('20002', code))?.kind).toBe('not-awaited');
    });

    test('counts a wrong code once, also if handled in parallel', async () => {
      await open();
      const { code } = await walkToCode('20001');
      const again = () => type('20001', otherThan(code), { messageId: 'the-same-wrong' });
      const outcomes = await Promise.all(Array.from({ length: 20 }, again));
      expect(new Set(outcomes.map((outcome) => JSON.stringify(outcome)))).toEqual(
        new Set([JSON.stringify({ kind: 'wrong', triesLeft: 4, language: 'en' })]),
      );
      expect(await type('20001', otherThan(code))).toMatchObject({ kind: 'wrong', triesLeft: 3 });
    });

    test('stays hidden from the model in a group after its code is revoked', async () => {
      await open();
      const { code } = await walkToCode('20001');
      const text = `look: ${code}`;
      for (const messageId of ['the-same-group', 'the-same-group'])
        expect((await type('20002', text, { chatKind: 'group', messageId }))?.kind).toBe('seen-in-group');
      const mistyped = { chatKind: 'group' as const, messageId: 'the-same-typo' };
      const second = await walkToCode('20001');
      for (let round = 0; round < 2; round += 1)
        expect((await type('20001', 'it says A1B2-C3D4 here', mistyped))?.kind).toBe('seen-in-group');
      expect((await type('20001', second.code))?.kind).toBe('not-awaited');
    });

    test('does not claim a link that was undone', async () => {
      await open();
      const { code } = await walkToCode('20001');
      await type('20001', code, { messageId: 'first' });
      await fixture.identity.unlink(fixture.owner, '20001', 'm1');
      expect((await type('20001', code, { messageId: 'first' }))?.kind).toBe('not-awaited');
    });
  });

  test('the browser alone never links, by repeating its form or by an older page [typed-code]', async () => {
    await open();
    const browser = fixture.browser('20001');
    const confirm = await fixture.walkToConfirm(browser, await fixture.link('20001'));
    for (let round = 0; round < 5; round += 1) await browser.submit(confirm, '/sign-in/confirm');
    await browser.get(confirmUrl());
    expect(await account('20001')).toBeUndefined();
  });

  test('no code appears in a log line [scrubbed-logs]', async () => {
    await open();
    const { code } = await walkToCode('20001');
    await type('20001', otherThan(code));
    await type('20002', `see ${code}`, { chatKind: 'group' });
    const lines = fixture.lines.join('\n');
    expect(lines).toContain('code-in-group');
    for (const form of [code, code.replace('-', ''), otherThan(code)]) expect(lines).not.toContain(form);
  });
});

test('typed-code works with a service that returns no state [state-by-mode]', async () => {
  await start({ signIn: { proof: ['typed-code'], state: 'absent' } });
  fixture.service.echoesState = false;
  const { code } = await walkToCode('20001');
  expect((await type('20001', code))?.kind).toBe('linked');
});

describe('the request that waits for a typed code [typed-code]', () => {
  const wait = (browser: TestBrowser) => browser.get(`${fixture.url}/sign-in/code-typed`);
  /** Starts to wait, and returns once the request has arrived. */
  const startToWait = async (browser: TestBrowser) => {
    const answer = wait(browser);
    await pause(1_000);
    return { answer };
  };

  test('ends once the code is typed, is replaced, or is invalid', async () => {
    await start({ signIn: { proof: ['typed-code'] } });
    const { browser, page, code } = await walkToCode('20001');
    const replaced = await startToWait(browser);
    fixture.clock.nowMs += 1_000;
    const second = codeOn(await browser.submit(page, '/sign-in/new-code'));
    expect((await replaced.answer).status).toBe(200);
    const typed = wait(browser);
    expect((await type('20001', code))?.kind).toBe('wrong');
    expect((await type('20001', second))?.kind).toBe('linked');
    expect(await typed).toMatchObject({ status: 200, text: '', headers: { 'cache-control': 'no-store' } });
    // Opened again: the page must not wait for a code that was typed before.
    expect((await wait(browser)).status).toBe(200);
    const other = await walkToCode('20002');
    const spoiled = await startToWait(other.browser);
    await type('20003', other.code, { chatKind: 'group' });
    expect((await spoiled.answer).status).toBe(200);
  });

  test('is refused to a browser that shows no code, and changes nothing', async () => {
    await start({ signIn: { proof: ['typed-code'] } });
    expect((await wait(fixture.browser('20001'))).status).toBe(400);
    const early = fixture.browser('20001');
    await fixture.walkToConfirm(early, await fixture.link('20001'));
    expect((await wait(early)).status).toBe(400);
    const { code } = await walkToCode('20002');
    expect((await wait(early)).status).toBe(400);
    expect((await type('20002', code))?.kind).toBe('linked');
  });

  test('is one of at most three of a browser; others are told to ask later', async () => {
    await start({ signIn: { proof: ['typed-code'] } });
    const { browser, code } = await walkToCode('20001');
    const waits = [wait(browser), wait(browser), wait(browser), wait(browser)];
    const first = await Promise.race(waits);
    expect([first.status, first.headers['retry-after']]).toEqual([204, '15']);
    await type('20001', code);
    const statuses = (await Promise.all(waits)).map(({ status }) => status);
    expect(statuses.toSorted((a, b) => a - b)).toEqual([200, 200, 200, 204]);
  });
});
