import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { startTestRedis, type TestRedis } from '../../support/redis.ts';
import { openHouse, type House, type HouseOptions } from '../house.ts';

const HOUR_MS = 3_600_000;

let server: TestRedis;
let house: House;
beforeAll(async () => {
  server = await startTestRedis();
});
afterEach(() => house.close());
afterAll(() => server.stop());

async function openLinked(signIn: HouseOptions['signIn'] = {}): Promise<House> {
  house = await openHouse(server.redis, { signIn });
  await house.walk(house.browser('20001', '20001'), await house.link('20001'));
  return house;
}

const status = async () => (await house.identity.accountOf(house.owner, '20001'))?.status;

describe('the daily re-check [daily-check]', () => {
  test('is due after a day, once', async () => {
    await openLinked();
    expect(await house.identity.recheckDue(10)).toBe(0);
    house.clock.nowMs += 24 * HOUR_MS;
    house.service.profiles.set('20001', { attributes: { XM: 'New Name' } });
    const [first, second] = await Promise.all([house.identity.recheckDue(10), house.identity.recheckDue(10)]);
    expect(first + second).toBe(1);
    expect(await house.identity.accountOf(house.owner, '20001')).toMatchObject({ name: 'New Name', status: 'active' });
    expect(await house.identity.recheckDue(10)).toBe(0);
  });

  for (const [what, fields] of [
    ['an inactive account', { active: false }],
    ['another id', { id: '20009' }],
    ['another client', { client_id: 'other' }],
  ] as const) {
    test(`${what} suspends the link at once, drops its tokens and tells the person`, async () => {
      await openLinked();
      house.service.profiles.set('20001', fields);
      house.clock.nowMs += 24 * HOUR_MS;
      await house.identity.recheckDue(10);
      expect(await status()).toBe('suspended');
      expect(house.notices.at(-1)?.notice.kind).toBe('suspended');
      expect(house.events).toContain('suspended inactive');
      await expect(house.identity.freshAccessToken(house.owner, '20001')).rejects.toMatchObject({
        code: 'sign_in_again',
      });
      house.clock.nowMs += 24 * HOUR_MS;
      expect(await house.identity.recheckDue(10)).toBe(0);
    });
  }

  test('without an answer the link lives for 72 hours, then it is suspended until one comes', async () => {
    await openLinked();
    house.service.scripted.profile = () => ({ status: 503, body: '' });
    house.clock.nowMs += 24 * HOUR_MS;
    await house.identity.recheckDue(10);
    house.clock.nowMs += 71 * HOUR_MS;
    await house.identity.recheckDue(10);
    expect(await status()).toBe('active');
    house.clock.nowMs += HOUR_MS;
    await house.identity.recheckDue(10);
    expect(await status()).toBe('suspended');
    expect(house.events).toContain('suspended service-unreachable');
    house.service.scripted = {};
    house.clock.nowMs += HOUR_MS;
    await house.identity.recheckDue(10);
    expect(await status()).toBe('active');
  });

  test('a dead refresh token asks to sign in again, and is not looked at any more', async () => {
    await openLinked();
    house.service.scripted.refresh = () => ({ status: 400, body: '{"error":"invalid_grant"}' });
    house.clock.nowMs += 24 * HOUR_MS;
    await house.identity.recheckDue(10);
    expect(await status()).toBe('reauth');
    house.clock.nowMs += HOUR_MS;
    await house.identity.recheckDue(10);
    expect(await server.redis.zcard('{id}:rechecks')).toBe(0);
  });

  test('a profile request that is refused with 401 is repeated once with a new token [expiry-unit]', async () => {
    await openLinked({ keepTokens: 'both' });
    house.clock.nowMs += 24 * HOUR_MS;
    await house.identity.freshAccessToken(house.owner, '20001');
    house.clock.nowMs += 60_000;
    let count = 0;
    house.service.scripted.profile = () => ((count += 1) === 1 ? { status: 401, body: '{}' } : undefined);
    await house.identity.recheckDue(10);
    expect(await status()).toBe('active');
    expect(house.service.seen.refreshes).toHaveLength(2);
    expect(await house.identity.recheckDue(10)).toBe(0);
  });

  test('links without a refresh token are not checked; they end by themselves', async () => {
    await openLinked({ keepTokens: 'none' });
    house.clock.nowMs += 48 * HOUR_MS;
    expect(await house.identity.recheckDue(10)).toBe(0);
    const [name] = await server.redis.keys('{id}:link:*');
    expect(await server.redis.pttl(name ?? '')).toBeLessThanOrEqual(30 * 24 * HOUR_MS);
  });
});
