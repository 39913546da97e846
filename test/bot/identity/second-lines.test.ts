import { describe, expect, test } from '@jest/globals';
import type { RedisClient } from '../../../src/shared/redis/redis.ts';
import { keys } from '../../../src/bot/identity/store.ts';
import { DIALECTS } from './providers/dialects.ts';
import { useIdentityFixture, type OpenOptions } from './use-identity-fixture.ts';
import type { Command } from 'ioredis';
import { ScriptCommand } from '../../../src/shared/redis/script-command.ts';

/** Second lines of defence: each test has already bypassed the first one. */
const { server, fixture, open: start } = useIdentityFixture();

const own = () => fixture.browser('20001', '20001');
const links = () => server.redis.keys(keys.link('*'));

describe.each(DIALECTS)('with %s', (dialect) => {
  const open = (options: OpenOptions = {}) => start({ dialect, ...options });

  describe('a callback of one provider with the transaction of another [transaction-taken-once]', () => {
    const stateOf = (location: unknown) => new URL(String(location)).searchParams.get('state') ?? '';

    // The stored verifier is encrypted for the service's callback and cannot be decrypted at another: the second case
    // bypasses that as well.
    test.each([
      ['', (record: object) => record],
      [', with nothing sealed in it as a platform’s may be,', (record: object) => ({ ...record, verifier: undefined })],
    ])('refuses the service’s transaction%s at the platform’s callback', async (_, change) => {
      await open({ signIn: { proof: ['same-browser'] } });
      const browser = own();
      const started = await browser.submit(await browser.get(await fixture.link('20001')));
      const atService = await browser.follow(started, /\/oauth\/callback/);
      const state = stateOf(atService.headers['location']);
      const names = await server.redis.keys(keys.transaction('*'));
      const name = names.find((one) => !one.endsWith(':taken')) ?? '';
      const record = JSON.parse((await server.redis.get(name)) ?? '{}') as object;
      await server.redis.set(name, JSON.stringify(change(record)), 'PX', 60_000);
      const code = fixture.platform.codeFor('20001');
      const page = await browser.get(`${fixture.url}/oauth/platform/wecom/callback?code=${code}&state=${state}`);
      expect(page.status).toBe(400);
    });

    test('refuses the platform’s transaction at the service’s callback without exchanging a code', async () => {
      await open({ signIn: { proof: ['same-browser'] } });
      const browser = own();
      const started = await browser.submit(await browser.get(await fixture.link('20001')));
      const state = stateOf(started.headers['location']);
      const code = fixture.provider.mintCode('20001');
      expect(
        (await browser.get(`${fixture.url}/oauth/callback?${fixture.provider.returns}=${code}&state=${state}`)).status,
      ).toBe(400);
      expect(fixture.provider.seen.codes).toEqual([]);
    });
  });

  describe('one transaction per browser [one-transaction]', () => {
    test('a second start deletes the first transaction, which is refused even if restored', async () => {
      await open({ signIn: { proof: ['same-id'] } });
      const browser = own();
      const landing = await browser.get(await fixture.link('20001'));
      const shown = new Map(browser.cookies);
      const callback = String(
        (await browser.follow(await browser.submit(landing), /\/oauth\/callback/)).headers['location'],
      );
      const first = new Map(browser.cookies);
      const [name = ''] = await server.redis.keys(keys.transaction('*'));
      const transaction = (await server.redis.get(name)) ?? '';

      shown.forEach((value, cookie) => browser.cookies.set(cookie, value));
      await browser.submit(landing);
      expect(await server.redis.keys(keys.transaction('*'))).toHaveLength(1);
      expect(await server.redis.exists(name)).toBe(0);

      await server.redis.set(name, transaction, 'PX', 60_000);
      first.forEach((value, cookie) => browser.cookies.set(cookie, value));
      expect((await browser.get(callback)).status).toBe(410);
      expect(fixture.provider.seen.codes).toEqual([]);
    });
  });

  test('with same-browser, the same user id in another company is another person [chat-proof-first]', async () => {
    await open({ signIn: { proof: ['same-browser'] } });
    const { webSignIn } = fixture.platform;
    const identify = () => Promise.resolve({ userId: '20001', tenant: 'another-corp' });
    Object.assign(fixture.platform, { webSignIn: { ...webSignIn, identify } });
    expect((await fixture.walkToConfirm(own(), await fixture.link('20001'))).status).toBe(403);
    expect(fixture.notices.map(({ notice }) => notice.kind)).toEqual(['someone-else-signed-in']);
    expect(fixture.provider.seen.authorize).toHaveLength(0);
  });

  test('a quarantine under another browser’s cookie reveals no name [sealed-until-proven]', async () => {
    await open();
    const [mine, theirs] = [own(), fixture.browser('20002', '20002')];
    await fixture.walkToConfirm(mine, await fixture.link('20001'));
    const [name = ''] = await server.redis.keys(keys.quarantine('*'));
    await fixture.walkToConfirm(theirs, await fixture.link('20002'));
    const [other = ''] = (await server.redis.keys(keys.quarantine('*'))).filter((one) => one !== name);
    await server.redis.copy(other, name, 'REPLACE');
    const page = await mine.get(`${fixture.url}/sign-in/confirm`);
    expect(page.status).toBe(410);
    expect(page.text).not.toContain('20002');
  });

  describe('the commit re-checks the state [linked-in-one-step]', () => {
    const changes: [string, (ticket: string, pendingSignIns: string) => Promise<unknown>][] = [
      ['the ticket was refused', (ticket) => server.redis.hset(ticket, 'status', 'refused')],
      ['the ticket is new again', (ticket) => server.redis.hset(ticket, 'status', 'new')],
      ['the ticket has expired', (ticket) => server.redis.hset(ticket, 'expiresAtMs', fixture.clock.nowMs)],
      ['the ticket is another browser’s', (ticket) => server.redis.hset(ticket, 'browser', 'f'.repeat(64))],
      ['the quarantine is gone', (_, pendingSignIns) => server.redis.del(pendingSignIns)],
      ['the quarantine is another one', (_, pendingSignIns) => server.redis.set(pendingSignIns, '{}', 'PX', 60_000)],
    ];
    for (const [what, change] of changes) {
      test(`no link if ${what} since the page was read`, async () => {
        const before = async () => {
          const [[ticket = ''], [pendingSignIns = '']] = [
            await server.redis.keys(keys.invitation('*')),
            await server.redis.keys(keys.quarantine('*')),
          ];
          await change(ticket, pendingSignIns);
        };
        await open({ identity: { redis: beforeCommit(server.redis, before) } });
        const page = await fixture.walk(own(), await fixture.link('20001'));
        expect(page.status).toBe(410);
        expect(await links()).toEqual([]);
        expect(fixture.releases).toEqual([]);
      });
    }
  });

  describe('an unreadable verifier [sealed-records]', () => {
    const altered = (sealed: string) => `${sealed.slice(0, -4)}${sealed.endsWith('AAAA') ? 'BBBB' : 'AAAA'}`;
    test.each([
      ['was altered', altered],
      ['has an unknown key id', (sealed: string) => sealed.replace(/^s1\.[0-9a-f]{8}/, 's1.00000000')],
      ['is not there', () => undefined],
    ])('a verifier that %s ends the sign-in: no code is exchanged and nothing stored', async (_, change) => {
      await open({ signIn: { proof: ['same-id'] } });
      const browser = own();
      const started = await browser.submit(await browser.get(await fixture.link('20001')));
      const callback = String((await browser.follow(started, /\/oauth\/callback/)).headers['location']);
      const [name = ''] = await server.redis.keys(keys.transaction('*'));
      const transaction = JSON.parse((await server.redis.get(name)) ?? '{}') as { verifier: string };
      const changed = { ...transaction, verifier: change(transaction.verifier) };
      await server.redis.set(name, JSON.stringify(changed), 'PX', 60_000);
      const page = await browser.get(callback);
      expect(page.status).toBe(400);
      expect(page.text).toContain('This sign-in could not be completed');
      expect(fixture.provider.seen.codes).toEqual([]);
      expect(await server.redis.keys(keys.quarantine('*'))).toEqual([]);
      // A new link is a new attempt.
      expect((await fixture.walk(own(), await fixture.link('20001', true))).text).toContain('You are signed in');
    });

    test('the verifier of the platform’s web sign-in, if altered, ends the sign-in before the service is asked', async () => {
      await open({ signIn: { proof: ['same-browser'] } });
      const browser = own();
      const started = await browser.submit(await browser.get(await fixture.link('20001')));
      const [name = ''] = await server.redis.keys(keys.transaction('*'));
      const transaction = JSON.parse((await server.redis.get(name)) ?? '{}') as { verifier: string };
      const changed = { ...transaction, verifier: altered(transaction.verifier) };
      await server.redis.set(name, JSON.stringify(changed), 'PX', 60_000);
      const page = await browser.follow(started);
      expect(page.status).toBe(400);
      expect(page.text).toContain('This sign-in could not be completed');
      expect(fixture.provider.seen.codes).toEqual([]);
    });
  });
});

/** Runs a function right before the script that makes a link, which is the only script with a holder key. */
function beforeCommit(redis: RedisClient, run: () => Promise<unknown>): RedisClient {
  return new Proxy(redis, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      const call = value.bind(target) as (...args: unknown[]) => Promise<unknown>;
      if (name !== 'sendCommand') return call;
      return async (command: Command) => {
        const [, count = 0, ...rest] = command instanceof ScriptCommand ? command.args : [];
        if (rest.slice(0, Number(count)).some((key) => String(key).startsWith(keys.holder()))) await run();
        return call(command);
      };
    },
  });
}
