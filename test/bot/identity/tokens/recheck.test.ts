import { describe, expect, test } from '@jest/globals';
import { type IdentityFixture, type IdentityFixtureOptions } from '../identity-fixture.ts';
import { useIdentityFixture } from '../use-identity-fixture.ts';

const HOUR_MS = 3_600_000;

const { server, fixture, open: start } = useIdentityFixture();

async function openLinked(signIn: IdentityFixtureOptions['signIn'] = {}): Promise<IdentityFixture> {
  await start({ signIn });
  await fixture.walk(fixture.browser('20001', '20001'), await fixture.link('20001'));
  return fixture;
}

const status = async () => (await fixture.identity.accountOf(fixture.owner, '20001'))?.status;

describe('the daily re-check [daily-check]', () => {
  test('runs once after a day', async () => {
    await openLinked();
    expect(await fixture.identity.recheckDue(10)).toBe(0);
    fixture.clock.nowMs += 24 * HOUR_MS;
    fixture.service.profiles.set('20001', { attributes: { XM: 'New Name' } });
    const [first, second] = await Promise.all([fixture.identity.recheckDue(10), fixture.identity.recheckDue(10)]);
    expect(first + second).toBe(1);
    expect(await fixture.identity.accountOf(fixture.owner, '20001')).toMatchObject({
      name: 'New Name',
      status: 'active',
    });
    expect(await fixture.identity.recheckDue(10)).toBe(0);
  });

  for (const [what, fields] of [
    ['an inactive account', { active: false }],
    ['another id', { id: '20009' }],
    ['another client', { client_id: 'other' }],
  ] as const) {
    test(`${what} suspends the link at once, deletes its tokens and notifies the person`, async () => {
      await openLinked();
      fixture.service.profiles.set('20001', fields);
      fixture.clock.nowMs += 24 * HOUR_MS;
      await fixture.identity.recheckDue(10);
      expect(await status()).toBe('suspended');
      expect(fixture.notices.at(-1)?.notice.kind).toBe('suspended');
      expect(fixture.events).toContain('suspended inactive');
      await expect(fixture.identity.freshAccessToken(fixture.owner, '20001')).rejects.toMatchObject({
        code: 'sign_in_again',
      });
      fixture.clock.nowMs += 24 * HOUR_MS;
      expect(await fixture.identity.recheckDue(10)).toBe(0);
    });
  }

  test('keeps a link for 72 hours without a response, then suspends it until one arrives', async () => {
    await openLinked();
    fixture.service.scripted.profile = () => ({ status: 503, body: '' });
    fixture.clock.nowMs += 24 * HOUR_MS;
    await fixture.identity.recheckDue(10);
    fixture.clock.nowMs += 71 * HOUR_MS;
    await fixture.identity.recheckDue(10);
    expect(await status()).toBe('active');
    fixture.clock.nowMs += HOUR_MS;
    await fixture.identity.recheckDue(10);
    expect(await status()).toBe('suspended');
    expect(fixture.events).toContain('suspended service-unreachable');
    fixture.service.scripted = {};
    fixture.clock.nowMs += HOUR_MS;
    await fixture.identity.recheckDue(10);
    expect(await status()).toBe('active');
  });

  test('asks for a new sign-in after a refused refresh token, and checks the link no more', async () => {
    await openLinked();
    fixture.service.scripted.refresh = () => ({ status: 400, body: '{"error":"invalid_grant"}' });
    fixture.clock.nowMs += 24 * HOUR_MS;
    await fixture.identity.recheckDue(10);
    expect(await status()).toBe('reauth');
    fixture.clock.nowMs += HOUR_MS;
    await fixture.identity.recheckDue(10);
    expect(await server.redis.zcard('{id}:rechecks')).toBe(0);
  });

  test('repeats a profile request that fails with 401 once with a new token [expiry-unit]', async () => {
    await openLinked({ keepTokens: 'both' });
    fixture.clock.nowMs += 24 * HOUR_MS;
    await fixture.identity.freshAccessToken(fixture.owner, '20001');
    fixture.clock.nowMs += 60_000;
    let count = 0;
    fixture.service.scripted.profile = () => ((count += 1) === 1 ? { status: 401, body: '{}' } : undefined);
    await fixture.identity.recheckDue(10);
    expect(await status()).toBe('active');
    expect(fixture.service.seen.refreshes).toHaveLength(2);
    expect(await fixture.identity.recheckDue(10)).toBe(0);
  });

  test('skips links without a refresh token, which expire by themselves', async () => {
    await openLinked({ keepTokens: 'none' });
    fixture.clock.nowMs += 48 * HOUR_MS;
    expect(await fixture.identity.recheckDue(10)).toBe(0);
    const [name] = await server.redis.keys('{id}:link:*');
    expect(await server.redis.pttl(name ?? '')).toBeLessThanOrEqual(30 * 24 * HOUR_MS);
  });
});
