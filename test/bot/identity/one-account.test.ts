import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { useIdentityFixture } from './use-identity-fixture.ts';
import { tries } from '../../support/tries.ts';

const { server, fixture, open } = useIdentityFixture();

const account = (chatUserId: string) => fixture.identity.accountOf(fixture.owner, chatUserId);

describe('one account per chat user [linked-in-one-step]', () => {
  test('refuses an account that is linked elsewhere, and notifies its holder', async () => {
    await open();
    await fixture.walk(fixture.browser('20001', 'first'), await fixture.link('first'));
    const page = await fixture.walk(fixture.browser('20001', 'second'), await fixture.link('second'));
    expect(page.status).toBe(409);
    expect(page.text).toContain('This account is already connected to another chat account');
    expect(await account('second')).toBeUndefined();
    expect(fixture.notices.at(-1)).toMatchObject({
      person: { chatUserId: 'first' },
      notice: { kind: 'account-wanted-elsewhere' },
    });
    await fixture.identity.unlink(fixture.owner, 'first', 'm1');
    expect((await fixture.walk(fixture.browser('20001', 'second'), await fixture.link('second'))).status).toBe(200);
  });

  test('requires a chat user with another account to unlink first', async () => {
    await open();
    await fixture.walk(fixture.browser('20001', 'first'), await fixture.link('first'));
    const page = await fixture.walk(fixture.browser('20002', 'first'), await fixture.link('first'));
    expect(page.status).toBe(409);
    expect(page.text).toContain('This chat account is already connected to another account');
    expect((await account('first'))?.accountId).toBe('20001');
    expect((await fixture.walk(fixture.browser('20001', 'first'), await fixture.link('first'))).status).toBe(200);
  });

  test('never gives an account two holders in random histories', async () => {
    await open();
    const act = fc.record({
      chat: fc.constantFrom('a', 'b', 'c'),
      account: fc.constantFrom('1', '2'),
      unlink: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(act, { minLength: 2, maxLength: 7 }), async (acts) => {
        await server.redis.flushdb();
        for (const { chat, account: id, unlink } of acts) {
          if (unlink) await fixture.identity.unlink(fixture.owner, chat, randomUUID());
          else await fixture.walk(fixture.browser(id, chat), await fixture.link(chat, true)).catch(ignoreTooMany);
          const accounts = await Promise.all(['a', 'b', 'c'].map(async (one) => (await account(one))?.accountId));
          const held = accounts.filter((one) => one !== undefined);
          expect(new Set(held).size).toBe(held.length);
        }
      }),
      { numRuns: tries(8) },
    );
  });

  function ignoreTooMany(error: Error): void {
    if (!error.message.includes('too-many')) throw error;
  }

  test('makes one link if two browsers confirm the same account in parallel', async () => {
    await open();
    const pages = await Promise.all(
      ['first', 'second'].map(async (chat) => {
        const browser = fixture.browser('20001', chat);
        return { browser, page: await fixture.walkToConfirm(browser, await fixture.link(chat)) };
      }),
    );
    const ends = await Promise.all(pages.map(({ browser, page }) => browser.submit(page, '/sign-in/confirm')));
    expect(ends.map(({ status }) => status).sort()).toEqual([200, 409]);
  });
});
