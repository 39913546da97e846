import { inspect } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { connectRedis } from '../../../src/shared/redis/redis.ts';
import { createIdentity } from '../../../src/bot/identity/identity.ts';
import { recordingLog } from '../../support/redis.ts';
import { type IdentityFixtureOptions } from './identity-fixture.ts';
import { useIdentityFixture } from './use-identity-fixture.ts';
import { tries } from '../../support/tries.ts';
import { ScriptCommand } from '../../../src/shared/redis/script-command.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

const { server, fixture, open: start } = useIdentityFixture();

/** Opens a fixture in which 20001 is linked, with an access token that lives for two hours. */
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

/** Waits until the service has received a refresh request. */
async function refreshAsked(): Promise<void> {
  while (refreshes() === 0) await pause(10);
}

describe('one refresh at a time [one-refresh]', () => {
  test('a caller without the lock never calls the service, and fails with a retryable error after 6 s [refresh-lock]', async () => {
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

  test('one of several waiting callers takes over an expired lock [refresh-lock]', async () => {
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

  test('without Redis, fails with a retryable error and makes no call [refresh-lock]', async () => {
    await openLinked();
    expire();
    const gone = connectRedis({ urls: ['redis://127.0.0.1:1'] }, 'fail-fast', recordingLog().log, 'gone');
    const identity = createIdentity({ ...fixture.options, redis: gone });
    await expect(identity.freshAccessToken(fixture.owner, '20001')).rejects.toMatchObject({ code: 'store_away' });
    gone.disconnect();
    expect(refreshes()).toBe(0);
  });

  test('the lock holder reads again under the lock and uses a newer token [read-after-lock]', async () => {
    await openLinked();
    expire();
    const lock = await lockName();
    // Another process refreshes between the first read and the lock.
    let others: string | undefined;
    const redis = new Proxy(server.redis, {
      get(target, asked) {
        const value: unknown = Reflect.get(target, asked);
        if (typeof value !== 'function') return value;
        const send = value.bind(target) as (...args: unknown[]) => unknown;
        return (...args: unknown[]) => {
          const sent = args.flatMap((one) => (one instanceof ScriptCommand ? one.args : one));
          if (others !== undefined || !sent.includes(lock)) return send(...args);
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

  test('a refresh does not overwrite tokens written in the meantime [refresh-token-kept]', async () => {
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

  test('a lock that another holder has acquired is not released [owner-releases]', async () => {
    await openLinked();
    fixture.service.scripted.refresh = () => ({ delayMs: 200 });
    expire();
    const pending = fresh();
    await refreshAsked();
    await server.redis.set(await lockName(), 'the next holder', 'PX', 15_000);
    await pending;
    expect(await server.redis.get(await lockName())).toBe('the next holder');
  });

  test('waiting callers learn of a failure at once, and make no call either [refresh-outcomes]', async () => {
    await openLinked();
    fixture.service.scripted.refresh = () => ({ status: 503, body: '', delayMs: 200 });
    expire();
    const startedMs = performance.now();
    const ends = await Promise.allSettled(Array.from({ length: 50 }, () => fresh()));
    // A caller that waits for the lock fails after 6 s.
    expect(performance.now() - startedMs).toBeLessThan(5_900);
    expect(ends.every((end) => end.status === 'rejected')).toBe(true);
    expect(refreshes()).toBe(1);
  });
});

describe('refresh outcomes [refresh-outcomes]', () => {
  test('definitive, but with newer tokens stored: the newer tokens are used', async () => {
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

  test('the person is notified of refused refreshes once in 24 hours', async () => {
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

  test('a refusal of our own client is logged as an error and signs out no person', async () => {
    await openLinked();
    fixture.service.scripted.refresh = () => ({ status: 401, body: '{"error":"invalid_client"}' });
    for (let round = 0; round < 5; round += 1) {
      expire();
      await expect(fresh()).rejects.toMatchObject({ code: 'refresh_later' });
    }
    expect(await status()).toBe('active');
    const alarms = fixture.lines.filter((line) => line.includes('refuses our client'));
    expect(alarms.map((line) => (JSON.parse(line) as { level: unknown }).level)).toEqual(Array(5).fill('error'));
    expect(fixture.notices.map(({ notice }) => notice.kind)).toEqual(['linked']);
  });

  test('the back-off doubles with each failure, with jitter, up to ten minutes', async () => {
    await openLinked();
    fixture.service.scripted.refresh = () => ({ status: 503, body: '' });
    const waitsMs: number[] = [];
    for (let round = 0; round < 12; round += 1) {
      expire();
      await expect(fresh()).rejects.toMatchObject({ code: 'refresh_later' });
      waitsMs.push(Number(await server.redis.hget(await linkName(), 'notBeforeMs')) - fixture.clock.nowMs);
    }
    waitsMs.forEach((waitMs, failures) => {
      const maxMs = Math.min(5_000 * 2 ** failures, 10 * MINUTE_MS);
      expect(waitMs).toBeGreaterThanOrEqual(maxMs / 2);
      expect(waitMs).toBeLessThanOrEqual(maxMs);
    });
    expect(new Set(waitsMs.slice(7)).size).toBeGreaterThan(1);
    const before = refreshes();
    fixture.clock.nowMs += 4 * MINUTE_MS;
    await expect(fresh()).rejects.toMatchObject({ code: 'refresh_later' });
    expect(refreshes()).toBe(before);
  });

  test('a suspension during a refresh discards the new token', async () => {
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

  // A value is broken if a known key cannot decrypt it or if it is not an encrypted value. An unknown key is a different
  // case.
  test.each([
    ['a key of the ring does not open', (id: string) => `v1.${id}.AAAA.AAAA.AAAA.AAAA`],
    ['are not encrypted', () => 'not sealed at all'],
    ['contain an invalid key id', () => 'v1.some key.AAAA.AAAA.AAAA.AAAA'],
  ])('tokens that %s require a new sign-in instead of leaving the link unchecked', async (_, brokenBy) => {
    await openLinked();
    const tokens = (await server.redis.hget(await linkName(), 'tokens')) ?? '';
    await server.redis.hset(await linkName(), 'tokens', brokenBy(tokens.split('.')[1] ?? ''));
    fixture.clock.nowMs += 24 * HOUR_MS;
    await fixture.identity.recheckDue(10);
    expect(await status()).toBe('reauth');
    expect(fixture.events).toContain('sign-in-again record-broken');
  });
});

describe('a misleading expires_in [expiry-unit]', () => {
  const answers = fc.constantFrom(
    ...[undefined, null, 0, -1, 1, 60, '60', '7200', 'soon', 7_200, 7_200_000, 1_790_000_000, 1e12, 1e300],
  );

  test('causes at most one refresh a minute, whatever its value and however often the token is requested', async () => {
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
      { numRuns: tries(25) },
    );
  });

  test('is read in the configured unit, for the first token and for later ones', async () => {
    await openLinked({ keepTokens: 'both', expiresUnit: 'milliseconds' });
    // 7,200 ms are raised to the minimum life of one minute, of which 70 to 80 % are used.
    fixture.clock.nowMs += 41_000;
    await fresh();
    expect(refreshes()).toBe(0);
    fixture.clock.nowMs += 8_000;
    await fresh();
    expect(refreshes()).toBe(1);
  });
});

test('no token, secret or response body appears in an error or log line [secrets-stay-inside]', async () => {
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
