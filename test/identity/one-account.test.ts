import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { startTestRedis, type TestRedis } from '../support/redis.ts';
import { openHouse, type House, type HouseOptions } from './house.ts';

let server: TestRedis;
let house: House;
beforeAll(async () => {
  server = await startTestRedis();
});
afterEach(() => house.close());
afterAll(() => server.stop());

async function open(options?: HouseOptions): Promise<House> {
  house = await openHouse(server.redis, options);
  return house;
}

const account = (chatUserId: string) => house.identity.accountOf(house.owner, chatUserId);

describe('one account, one chat user [linked-in-one-step]', () => {
  test('an account that is linked elsewhere is refused, and its holder is told', async () => {
    await open();
    await house.walk(house.browser('20001', 'first'), await house.link('first'));
    const page = await house.walk(house.browser('20001', 'second'), await house.link('second'));
    expect(page.status).toBe(409);
    expect(page.text).toContain('Another chat account is signed in with this account');
    expect(await account('second')).toBeUndefined();
    expect(house.notices.at(-1)).toMatchObject({
      person: { chatUserId: 'first' },
      notice: { kind: 'account-wanted-elsewhere' },
    });
    await house.identity.unlink(house.owner, 'first', 'm1');
    expect((await house.walk(house.browser('20001', 'second'), await house.link('second'))).status).toBe(200);
  });

  test('a chat user with another account has to unlink first', async () => {
    await open();
    await house.walk(house.browser('20001', 'first'), await house.link('first'));
    const page = await house.walk(house.browser('20002', 'first'), await house.link('first'));
    expect(page.status).toBe(409);
    expect(page.text).toContain('This chat is signed in with another account');
    expect((await account('first'))?.accountId).toBe('20001');
    expect((await house.walk(house.browser('20001', 'first'), await house.link('first'))).status).toBe(200);
  });

  test('random histories never give an account two holders', async () => {
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
          if (unlink) await house.identity.unlink(house.owner, chat, randomUUID());
          else await house.walk(house.browser(id, chat), await house.link(chat, true)).catch(ignoreTooMany);
          const accounts = await Promise.all(['a', 'b', 'c'].map(async (one) => (await account(one))?.accountId));
          const held = accounts.filter((one) => one !== undefined);
          expect(new Set(held).size).toBe(held.length);
        }
      }),
      { numRuns: 8 },
    );
  });

  function ignoreTooMany(error: Error): void {
    if (!error.message.includes('too-many')) throw error;
  }

  test('two browsers that confirm the same account at once: one link', async () => {
    await open();
    const pages = await Promise.all(
      ['first', 'second'].map(async (chat) => {
        const browser = house.browser('20001', chat);
        return { browser, page: await house.walkToConfirm(browser, await house.link(chat)) };
      }),
    );
    const ends = await Promise.all(pages.map(({ browser, page }) => browser.submit(page, '/sign-in/confirm')));
    expect(ends.map(({ status }) => status).sort()).toEqual([200, 409]);
  });
});
