import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { browserAt, spray } from './sprayed-logins.ts';
import { type Browser, authorizePath, startTestService, type TestService } from './support.ts';
import { useTestRedis } from '../support/use-test-redis.ts';

const LIMITS = { ofNameAtAddress: 10, ofAddress: 60, ofName: 60, ofDevice: 20 };

const server = useTestRedis();
let service: TestService;
beforeEach(async () => {
  await server.redis.flushall();
  service = await startTestService(server.redis, { trustedProxyHops: 1, loginLimits: LIMITS });
});
afterEach(() => service.close());

/** Signs in by password and returns to a login form in the same browser. */
async function signInBefore(address: string, username: string): Promise<Browser> {
  const { browser, attempt } = await browserAt(service, address);
  expect(await attempt(username, `${username}-pass`)).toBe(303);
  await browser.get('/logout');
  return browser;
}

async function signInAgain(browser: Browser, username: string): Promise<number> {
  const page = await browser.get(authorizePath());
  return (await browser.submit(page, { username, password: `${username}-pass` })).statusCode;
}

describe('an address with many wrong passwords', () => {
  test('is closed to unknown browsers and stays open to known ones', async () => {
    const known = await signInBefore('10.0.0.1', 'alice');
    const statuses = await spray(service, '10.0.0.1', 70);
    expect(statuses.filter((status) => status === 401)).toHaveLength(60);
    expect(statuses.filter((status) => status === 429)).toHaveLength(10);
    expect(await (await browserAt(service, '10.0.0.1')).attempt('alice', 'alice-pass')).toBe(429);
    expect(await (await browserAt(service, '10.0.0.1')).attempt('zhangwei', 'zhangwei-pass')).toBe(429);
    expect(await signInAgain(known, 'alice')).toBe(303);
    expect(await (await browserAt(service, '10.0.0.2')).attempt('zhangwei', 'zhangwei-pass')).toBe(303);
  });

  test('stays open only to people who signed in with the known browser', async () => {
    const known = await signInBefore('10.0.0.1', 'alice');
    expect(await signInAgain(known, 'zhangwei')).toBe(303);
    await known.get('/logout');
    const stranger = await signInBefore('10.0.0.1', 'zhangwei');
    await spray(service, '10.0.0.1', 60);
    expect(await signInAgain(stranger, 'alice')).toBe(429);
    expect(await signInAgain(known, 'alice')).toBe(303);
    await known.get('/logout');
    expect(await signInAgain(known, 'zhangwei')).toBe(303);
  });

  test('refuses a known-browser cookie that is forged, altered, or used 31 days later', async () => {
    const known = await signInBefore('10.0.0.1', 'alice');
    const cookie = known.cookies.get('__Host-svc-devices') ?? '';
    expect(cookie).not.toContain('alice');
    await spray(service, '10.0.0.1', 60);
    const [id = '', mark = ''] = cookie.split('.');
    const [day = '', mac = ''] = mark.split('-');
    const forged = [
      `${'A'.repeat(22)}.${mark}`,
      `${id}.${Number(day) + 1}-${mac}`,
      `${id}.${day}-${'A'.repeat(22)}`,
      id,
      mark,
    ];
    for (const value of forged) {
      const { browser, attempt } = await browserAt(service, '10.0.0.1');
      browser.cookies.set('__Host-svc-devices', value);
      expect([value, await attempt('alice', 'alice-pass')]).toEqual([value, 429]);
    }
    service.clock.ms += 31 * 86_400_000;
    expect(await signInAgain(known, 'alice')).toBe(429);
  });

  test('includes all IPv6 addresses of one network, and ignores ports', async () => {
    for (let index = 0; index < 60; index += 1) {
      const { attempt } = await browserAt(service, `[2001:db8:1:2::${(index + 1).toString(16)}]:${1_000 + index}`);
      expect(await attempt(`person${index}`, 'Summer2026')).toBe(401);
    }
    expect(await (await browserAt(service, '2001:db8:1:2:ffff::9')).attempt('alice', 'alice-pass')).toBe(429);
    expect(await (await browserAt(service, '2001:db8:1:3::9')).attempt('alice', 'alice-pass')).toBe(303);
  });
});

test('existing and unknown names get the same answers, before and after a sign-in at the address', async () => {
  expect(await (await browserAt(service, '10.0.0.1')).attempt('alice', 'alice-pass')).toBe(303);
  const { attempt } = await browserAt(service, '10.0.0.1');
  const tries = async (name: string) => {
    const statuses: number[] = [];
    for (let count = 0; count < 25; count += 1) statuses.push(await attempt(name, 'guess'));
    return statuses;
  };
  expect(await tries('alice')).toEqual(await tries('nobody'));
});
