import { describe, expect, test } from '@jest/globals';
import { createIdentity } from '../../../../src/bot/identity/identity.ts';
import { type IdentityFixture, type IdentityFixtureOptions } from '../identity-fixture.ts';
import { useIdentityFixture } from '../use-identity-fixture.ts';

const HOUR_MS = 3_600_000;

const { server, fixture, open: start } = useIdentityFixture();

/** Opens a fixture in which 20001 is linked, with an access token that lives for two hours. */
async function openLinked(signIn: IdentityFixtureOptions['signIn'] = { keepTokens: 'both' }): Promise<IdentityFixture> {
  await start({ signIn });
  await fixture.walk(fixture.browser('20001', '20001'), await fixture.link('20001'));
  return fixture;
}

const fresh = (rejected?: string) => fixture.identity.freshAccessToken(fixture.owner, '20001', rejected);
const linkFields = async () => {
  const [name] = await server.redis.keys('{id}:link:*');
  return server.redis.hgetall(name ?? '');
};

describe('refreshing [one-refresh]', () => {
  test('returns a fresh token without a refresh', async () => {
    await openLinked();
    expect(await fresh()).toMatch(/^AT:/);
    expect(fixture.service.seen.refreshes).toHaveLength(0);
  });

  test('50 callers of two processes make one refresh and all get its token', async () => {
    await openLinked();
    fixture.clock.nowMs += 2 * HOUR_MS;
    const other = createIdentity(fixture.options);
    const callers = Array.from({ length: 50 }, (_, index) =>
      (index % 2 === 0 ? fixture.identity : other).freshAccessToken(fixture.owner, '20001'),
    );
    const tokens = await Promise.all(callers);
    expect(new Set(tokens).size).toBe(1);
    expect(fixture.service.seen.refreshes).toHaveLength(1);
  });

  test('a reply without a refresh token keeps the stored one', async () => {
    await openLinked();
    for (let round = 0; round < 3; round += 1) {
      fixture.clock.nowMs += 2 * HOUR_MS;
      await fresh();
    }
    expect(new Set(fixture.service.seen.refreshes).size).toBe(1);
    expect(fixture.service.seen.refreshes).toHaveLength(3);
  });

  test('a reply with a refresh token replaces the stored one', async () => {
    await openLinked();
    fixture.service.scripted.refresh = () => ({
      body: JSON.stringify({ access_token: 'AT:new', token_type: 'bearer', expires_in: 60, refresh_token: 'RT:new' }),
    });
    fixture.clock.nowMs += 2 * HOUR_MS;
    expect(await fresh()).toBe('AT:new');
    fixture.clock.nowMs += 2 * HOUR_MS;
    await fresh();
    expect(fixture.service.seen.refreshes[1]).toBe('RT:new');
  });

  test('a rejected token is refreshed once, and not again within a minute [expiry-unit]', async () => {
    await openLinked();
    const first = await fresh();
    const second = await fresh(first);
    expect(second).not.toBe(first);
    expect(await fresh(first)).toBe(second);
    await expect(fresh(second)).rejects.toMatchObject({ code: 'refresh_later' });
    expect(fixture.service.seen.refreshes).toHaveLength(1);
    fixture.clock.nowMs += 60_000;
    expect(await fresh(second)).toMatch(/^AT:/);
  });

  test('invalid_grant is final: the tokens are deleted and the person is notified once', async () => {
    await openLinked();
    fixture.service.scripted.refresh = () => ({ status: 400, body: '{"error":"invalid_grant"}' });
    fixture.clock.nowMs += 2 * HOUR_MS;
    await expect(fresh()).rejects.toMatchObject({ code: 'sign_in_again' });
    await expect(fresh()).rejects.toMatchObject({ code: 'sign_in_again' });
    expect(await linkFields()).toMatchObject({ status: 'reauth', tokens: '' });
    expect((await fixture.identity.accountOf(fixture.owner, '20001'))?.status).toBe('reauth');
    expect(fixture.notices.map(({ notice }) => notice.kind)).toEqual(['linked', 'sign-in-again']);
    expect(fixture.service.seen.refreshes).toHaveLength(1);
    fixture.service.scripted = {};
    await fixture.walk(fixture.browser('20001', '20001'), await fixture.link('20001'));
    expect((await fixture.identity.accountOf(fixture.owner, '20001'))?.status).toBe('active');
  });

  for (const [what, status, body] of [
    ['a server error', 503, ''],
    ['HTML with 400', 400, '<html></html>'],
    ['too many requests', 429, '{}'],
    ['an error of our own client', 401, '{"error":"invalid_client"}'],
  ] as const) {
    test(`${what} keeps the tokens and delays the next attempt`, async () => {
      await openLinked();
      fixture.service.scripted.refresh = () => ({ status, body });
      fixture.clock.nowMs += 2 * HOUR_MS;
      for (let round = 0; round < 3; round += 1) {
        await expect(fresh()).rejects.toMatchObject({ code: 'refresh_later' });
        fixture.clock.nowMs += 10 * 60_000;
      }
      expect((await linkFields())['status']).toBe('active');
      expect(fixture.lines.some((line) => line.includes('refuses our client'))).toBe(body.includes('invalid_client'));
      fixture.service.scripted = {};
      expect(await fresh()).toMatch(/^AT:/);
    });
  }

  test('an unknown refusal is final only if repeated a minute later', async () => {
    await openLinked();
    fixture.service.scripted.refresh = () => ({ status: 403, body: '{"error":"odd"}' });
    fixture.clock.nowMs += 2 * HOUR_MS;
    await expect(fresh()).rejects.toMatchObject({ code: 'refresh_later' });
    fixture.clock.nowMs += 30_000;
    await expect(fresh()).rejects.toMatchObject({ code: 'refresh_later' });
    expect(fixture.service.seen.refreshes).toHaveLength(1);
    fixture.clock.nowMs += 30_000;
    await expect(fresh()).rejects.toMatchObject({ code: 'sign_in_again' });
  });

  test('a refresh that ends after /unlink stores nothing', async () => {
    await openLinked();
    fixture.clock.nowMs += 2 * HOUR_MS;
    fixture.service.scripted.refresh = () => ({ delayMs: 200 });
    const pending = expect(fresh()).rejects.toMatchObject({ code: 'refresh_later' });
    await new Promise((resolve) => setTimeout(resolve, 100));
    await fixture.identity.unlink(fixture.owner, '20001', 'm1');
    await pending;
    expect(await server.redis.keys('{id}:link:*')).toEqual([]);
  });

  test('a swapped token record cannot be decrypted', async () => {
    await openLinked();
    await fixture.walk(fixture.browser('20002', '20002'), await fixture.link('20002'));
    const [one, two] = await server.redis.keys('{id}:link:*');
    await server.redis.hset(one ?? '', 'tokens', (await server.redis.hget(two ?? '', 'tokens')) ?? '');
    const results = await Promise.allSettled([fresh(), fixture.identity.freshAccessToken(fixture.owner, '20002')]);
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  });

  test('what is kept of the tokens follows the setting [keep-less]', async () => {
    await openLinked({ keepTokens: 'none' });
    expect((await linkFields())['tokens']).toBe('');
    await expect(fresh()).rejects.toMatchObject({ code: 'sign_in_again' });
    await fixture.close();
    await openLinked({ keepTokens: 'refresh' });
    expect(await fresh()).toMatch(/^AT:/);
    expect(fixture.service.seen.refreshes).toHaveLength(1);
  });
});
