import { inspect } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { connectRedis } from '../../../src/shared/redis/redis.ts';
import { createIdentity } from '../../../src/bot/identity/identity.ts';
import { recordingLog } from '../../support/redis.ts';
import { type IdentityFixtureOptions } from './identity-fixture.ts';
import { useIdentityFixture } from './use-identity-fixture.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

const { server, fixture, open: start } = useIdentityFixture();

/** A fixture in which 20001 is linked, with an access token of two hours. */
async function openLinked(signIn: IdentityFixtureOptions['signIn'] = { keepTokens: 'both' }): Promise<void> {
  await start({ signIn });
  await link();
}

const link = async () => fixture.walk(fixture.browser('20001', '20001'), await fixture.link('20001', true));
const fresh = (rejected?: string) => fixture.identity.freshAccessToken(fixture.owner, '20001', rejected);
const status = async () => (await fixture.identity.accountOf(fixture.owner, '20001'))?.status;
const linkName = async () => (await server.redis.keys('{id}:link:*'))[0] ?? '';
const lockName = async () => (await linkName()).replace(':link:', ':lock:');
const refreshes = () => fixture.service.seen.refreshes.length;
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const expire = () => void (fixture.clock.nowMs += 2 * HOUR_MS);

/** Until the service has got its request. */
async function refreshAsked(): Promise<void> {
  while (refreshes() === 0) await pause(10);
}

describe('one refresh at a time [one-refresh]', () => {
  test('whoever has no lock never calls, and fails retryable after 6 s [refresh-lock]', async () => {
    await openLinked();
    expire();
    await server.redis.set(await lockName(), 'somebody', 'PX', 15_000);
    const startedMs = performance.now();
    await expect(fresh()).rejects.toMatchObject({ code: 'refresh_later' });
    expect(performance.now() - startedMs).toBeGreaterThan(5_900);
    expect(performance.now() - startedMs).toBeLessThan(9_000);
    expect(refreshes()).toBe(0);
    expect(await server.redis.get(await lockName())).toBe('somebody');
  });

  test('a lock that runs out while others wait is taken over by one of them [refresh-lock]', async () => {
    await openLinked();
    expire();
    await server.redis.set(await lockName(), 'a process that died', 'PX', 700);
    const tokens = await Promise.all(Array.from({ length: 20 }, () => fresh()));
    expect(new Set(tokens).size).toBe(1);
    expect(refreshes()).toBe(1);
  });

  test('the lock lives for 15 s [refresh-lock]', async () => {
    await openLinked();
    fixture.service.scripted.refresh = () => ({ delayMs: 300 });
    expire();
    const pending = fresh();
    await refreshAsked();
    const lifeMs = await server.redis.pttl(await lockName());
    expect(lifeMs).toBeGreaterThan(14_000);
    expect(lifeMs).toBeLessThanOrEqual(15_000);
    await pending;
    expect(await server.redis.exists(await lockName())).toBe(0);
  });

  test('Redis away: retryable, and no call without the lock [refresh-lock]', async () => {
    await openLinked();
    expire();
    const gone = connectRedis({ urls: ['redis://127.0.0.1:1'] }, 'fail-fast', recordingLog().log, 'gone');
    const identity = createIdentity({ ...fixture.options, redis: gone });
    await expect(identity.freshAccessToken(fixture.owner, '20001')).rejects.toMatchObject({ code: 'store_away' });
    gone.disconnect();
    expect(refreshes()).toBe(0);
  });

  test('the holder looks again under the lock: what was written meanwhile is used [read-after-lock]', async () => {
    await openLinked();
    expire();
    const lock = await lockName();
    // Another process refreshes between our first snapshot and our lock.
    let others: string | undefined;
    const redis = new Proxy(server.redis, {
      get(target, asked) {
        const value: unknown = Reflect.get(target, asked);
        if (typeof value !== 'function') return value;
        const send = value.bind(target) as (...args: unknown[]) => unknown;
        return (...args: unknown[]) => {
          if (others !== undefined || !args.includes(lock)) return send(...args);
          return fresh().then((token) => {
            others = token;
            return send(...args);
          });
        };
      },
    });
    const late = createIdentity({ ...fixture.options, redis });
    const token = await late.freshAccessToken(fixture.owner, '20001');
    expect(others).toEqual(expect.any(String));
    expect(token).toBe(others);
    expect(refreshes()).toBe(1);
  });

  test('what was written meanwhile is not overwritten [refresh-token-kept]', async () => {
    await openLinked();
    fixture.service.scripted.refresh = () => ({ delayMs: 1_500 });
    expire();
    const pending = expect(fresh()).rejects.toMatchObject({ code: 'refresh_later' });
    await refreshAsked();
    await link();
    const before = await server.redis.hget(await linkName(), 'tokens');
    await pending;
    expect(await server.redis.hget(await linkName(), 'tokens')).toBe(before);
  });

  test('a lock that has become another’s is not released [owner-releases]', async () => {
    await openLinked();
    fixture.service.scripted.refresh = () => ({ delayMs: 200 });
    expire();
    const pending = fresh();
    await refreshAsked();
    await server.redis.set(await lockName(), 'the next holder', 'PX', 15_000);
    await pending;
    expect(await server.redis.get(await lockName())).toBe('the next holder');
  });

  test('who waits learns of a failure at once, and does not call either [refresh-outcomes]', async () => {
    await openLinked();
    fixture.service.scripted.refresh = () => ({ status: 503, body: '', delayMs: 200 });
    expire();
    const startedMs = performance.now();
    const ends = await Promise.allSettled(Array.from({ length: 50 }, () => fresh()));
    expect(performance.now() - startedMs).toBeLessThan(5_000);
    expect(ends.every((end) => end.status === 'rejected')).toBe(true);
    expect(refreshes()).toBe(1);
  });
});

describe('outcomes [refresh-outcomes]', () => {
  test('definitive, but the version moved: that is used', async () => {
    await openLinked();
    fixture.service.scripted.refresh = () => ({ status: 400, body: '{"error":"invalid_grant"}', delayMs: 1_500 });
    expire();
    const pending = fresh();
    await refreshAsked();
    await link();
    expect(await pending).toBe(await fresh());
    expect(await status()).toBe('active');
    expect(fixture.notices.map(({ notice }) => notice.kind)).toEqual(['linked', 'linked']);
  });

  test('the person is told once in 24 hours', async () => {
    await openLinked();
    for (let round = 0; round < 3; round += 1) {
      fixture.service.scripted.refresh = () => ({ status: 401, body: '{"error":"invalid_grant"}' });
      expire();
      await expect(fresh()).rejects.toMatchObject({ code: 'sign_in_again' });
      await link();
    }
    expect(fixture.notices.filter(({ notice }) => notice.kind === 'sign-in-again')).toHaveLength(1);
    expect(fixture.events.filter((event) => event === 'sign-in-again token-refused')).toHaveLength(3);
    const [told] = await server.redis.keys('{id}:told:*');
    expect(await server.redis.pttl(told ?? '')).toBeGreaterThan(23 * HOUR_MS);
  });

  test('our own client’s refusal raises an alarm in the log and signs nobody out', async () => {
    await openLinked();
    fixture.service.scripted.refresh = () => ({ status: 401, body: '{"error":"invalid_client"}' });
    for (let round = 0; round < 5; round += 1) {
      expire();
      await expect(fresh()).rejects.toMatchObject({ code: 'refresh_later' });
    }
    expect(await status()).toBe('active');
    const alarms = fixture.lines.filter((line) => line.includes('refuses our client id or secret'));
    expect(alarms.map((line) => (JSON.parse(line) as { level: unknown }).level)).toEqual(Array(5).fill(50));
    expect(fixture.notices.map(({ notice }) => notice.kind)).toEqual(['linked']);
  });

  test('a back-off grows with each failure, with jitter, up to ten minutes', async () => {
    await openLinked();
    fixture.service.scripted.refresh = () => ({ status: 503, body: '' });
    const waitsMs: number[] = [];
    for (let round = 0; round < 12; round += 1) {
      expire();
      await expect(fresh()).rejects.toMatchObject({ code: 'refresh_later' });
      waitsMs.push(Number(await server.redis.hget(await linkName(), 'notBeforeMs')) - fixture.clock.nowMs);
    }
    waitsMs.forEach((waitMs, failures) => {
      const longestMs = Math.min(5_000 * 2 ** failures, 10 * MINUTE_MS);
      expect(waitMs).toBeGreaterThanOrEqual(longestMs / 2);
      expect(waitMs).toBeLessThanOrEqual(longestMs);
    });
    expect(new Set(waitsMs.slice(7)).size).toBeGreaterThan(1);
    const before = refreshes();
    fixture.clock.nowMs += 4 * MINUTE_MS;
    await expect(fresh()).rejects.toMatchObject({ code: 'refresh_later' });
    expect(refreshes()).toBe(before);
  });

  test('a suspension ends a refresh that is under way: it writes no token', async () => {
    await openLinked();
    const token = await fresh();
    fixture.service.scripted.refresh = () => ({ delayMs: 300 });
    const pending = expect(fresh(token)).rejects.toMatchObject({ code: 'refresh_later' });
    await refreshAsked();
    fixture.service.profiles.set('20001', { active: false });
    const person = (await linkName()).replace('{id}:link:', '');
    await server.redis.zadd('{id}:rechecks', 'XX', 0, person);
    await fixture.identity.recheckDue(10);
    await pending;
    expect(await server.redis.hmget(await linkName(), 'status', 'tokens')).toEqual(['suspended', '']);
  });

  // Broken is what a key of the ring does not open, and what has no sealed value's form. A key that is not in the ring is another matter.
  test.each([
    ['a key of the ring does not open', (id: string) => `v1.${id}.AAAA.AAAA.AAAA.AAAA`],
    ['are no sealed value', () => 'not sealed at all'],
    ['look like one with something else in the place of the key’s id', () => 'v1.some key.AAAA.AAAA.AAAA.AAAA'],
  ])('tokens that %s end in "sign in again", not in a link that nobody checks', async (_, brokenBy) => {
    await openLinked();
    const tokens = (await server.redis.hget(await linkName(), 'tokens')) ?? '';
    await server.redis.hset(await linkName(), 'tokens', brokenBy(tokens.split('.')[1] ?? ''));
    fixture.clock.nowMs += 24 * HOUR_MS;
    await fixture.identity.recheckDue(10);
    expect(await status()).toBe('reauth');
    expect(fixture.events).toContain('sign-in-again record-broken');
  });
});

describe('a hint that is wrong [expiry-unit]', () => {
  const answers = fc.constantFrom(
    ...[undefined, null, 0, -1, 1, 60, '60', '7200', 'soon', 7_200, 7_200_000, 1_790_000_000, 1e12, 1e300],
  );

  test('whatever expires_in says and whenever it is asked: at most one refresh a minute', async () => {
    await openLinked();
    const steps = fc.array(
      fc.record({ waitMs: fc.integer({ min: 0, max: 90_000 }), expiresIn: answers, isRejected: fc.boolean() }),
      { minLength: 5, maxLength: 15 },
    );
    await fc.assert(
      fc.asyncProperty(steps, async (given) => {
        fixture.clock.nowMs += 24 * HOUR_MS;
        const refreshedAtMs: number[] = [];
        let last: string | undefined;
        for (const { waitMs, expiresIn, isRejected } of given) {
          fixture.clock.nowMs += waitMs;
          fixture.service.scripted.refresh = () => {
            refreshedAtMs.push(fixture.clock.nowMs);
            const token = { access_token: `AT:${refreshedAtMs.length}`, token_type: 'bearer', expires_in: expiresIn };
            return { body: JSON.stringify(token) };
          };
          last = await fresh(isRejected ? last : undefined).catch(() => undefined);
        }
        refreshedAtMs.forEach((atMs, index) => {
          if (index > 0) expect(atMs - (refreshedAtMs[index - 1] ?? 0)).toBeGreaterThanOrEqual(MINUTE_MS);
        });
      }),
      { numRuns: 25 },
    );
  });

  test('what the unit setting says counts, for the first token and for later ones', async () => {
    await openLinked({ keepTokens: 'both', expiresUnit: 'milliseconds' });
    // 7,200 ms are raised to the least life of a minute, of which 70 to 80 % are used.
    fixture.clock.nowMs += 41_000;
    await fresh();
    expect(refreshes()).toBe(0);
    fixture.clock.nowMs += 8_000;
    await fresh();
    expect(refreshes()).toBe(1);
  });
});

test('no token, secret or body is in an error or a log line, whatever the service answers [secrets-stay-inside]', async () => {
  await openLinked();
  const canary = 'canary-77aa';
  const seen: string[] = [];
  for (const [code, body] of [
    [400, `{"error":"odd","error_description":"${canary}"}`],
    [503, `<html>${canary}</html>`],
    [200, `{"access_token":7,"refresh_token":"${canary}"}`],
    [401, `{"error":"invalid_client","error_description":"${canary}"}`],
    [401, `{"error":"invalid_grant","error_description":"${canary}"}`],
  ] as const) {
    fixture.service.scripted.refresh = () => ({ status: code, body });
    expire();
    seen.push(inspect(await fresh().catch((error: unknown) => error), { depth: 10, showHidden: true }));
  }
  await link();
  await fixture.service.close();
  expire();
  seen.push(inspect(await fresh().catch((error: unknown) => error), { depth: 10, showHidden: true }));
  const { clientSecret, seen: asked } = fixture.service;
  const text = [...seen, ...fixture.lines].join('\n');
  for (const secret of [canary, clientSecret, 'AT:', 'RT:', ...asked.refreshes, ...asked.codes])
    expect(text).not.toContain(secret);
  expect(seen).toHaveLength(6);
});
