import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { KeyRing } from '../../src/shared/crypto/key-ring.ts';
import { parseDirectoryFile } from '../../src/service/directory-file.ts';
import { LoginThrottle } from '../../src/service/oauth/login-throttle.ts';
import { Store } from '../../src/service/oauth/store.ts';
import { startTestRedis, type TestRedis } from '../support/redis.ts';
import { authorizePath, Browser, PEOPLE, startTestService, type TestService } from './support.ts';

let server: TestRedis;
let service: TestService;

beforeAll(async () => {
  server = await startTestRedis();
  service = await startTestService(server.redis, { trustedProxyHops: 1 });
});
beforeEach(() => server.redis.flushall());
afterAll(async () => {
  await service.close();
  await server.stop();
});

/** A browser at an address on the login form, with a function that tries passwords. */
async function loginFrom(address: string, headers: Record<string, string> = {}) {
  const browser = new Browser(service.url, { 'x-forwarded-for': address, ...headers });
  const page = await browser.get(authorizePath());
  return (username: string, password: string) => browser.submit(page, { username, password });
}

async function statusesOf(count: number, work: () => Promise<{ statusCode: number }>): Promise<number[]> {
  const statuses: number[] = [];
  for (let index = 0; index < count; index += 1) statuses.push((await work()).statusCode);
  return statuses;
}

describe('"a valid login is not throttled" with a limit on guesses', () => {
  test('refuses the 11th wrong password of a name from one address, accepts the right one, and then resets the count', async () => {
    const attempt = await loginFrom('10.0.0.1');
    expect(await statusesOf(12, () => attempt('alice', 'guess'))).toEqual([...Array<number>(10).fill(401), 429, 429]);
    expect((await attempt('alice', 'alice-pass')).statusCode).toBe(303);
    expect((await (await loginFrom('10.0.0.1'))('alice', 'guess')).statusCode).toBe(401);
  });

  test.each([
    ['en', 'Too many wrong passwords. Please wait ten minutes, or ask the help desk.'],
    ['zh-CN', '密码错误次数过多，请十分钟后再试，或联系服务台。'],
  ])('shows a message with Retry-After (%s)', async (language, words) => {
    const attempt = await loginFrom('10.0.0.1', { 'accept-language': language });
    await statusesOf(10, () => attempt('alice', 'guess'));
    const page = await attempt('alice', 'guess');
    expect(page.body).toContain(words);
    expect(Number(page.headers['retry-after'])).toBeGreaterThan(590);
    expect(Number(page.headers['retry-after'])).toBeLessThanOrEqual(600);
  });

  test('does not lock a person out when a neighbour types wrong passwords for their name', async () => {
    const neighbour = await loginFrom('10.0.0.1');
    await statusesOf(150, () => neighbour('alice', 'guess'));
    expect((await (await loginFrom('10.0.0.1'))('alice', 'alice-pass')).statusCode).toBe(303);
    expect((await (await loginFrom('10.0.0.1'))('zhangwei', 'zhangwei-pass')).statusCode).toBe(303);
  });

  test('accepts 300 concurrent valid logins of one person', async () => {
    const attempt = await loginFrom('10.0.0.1');
    const answers = await Promise.all(Array.from({ length: 300 }, () => attempt('alice', 'alice-pass')));
    expect(new Set(answers.map(({ statusCode }) => statusCode))).toEqual(new Set([303]));
    expect(await server.redis.keys('*failed-logins:*')).toEqual([]);
  });

  test('ignores X-Forwarded-For unless the proxy is trusted', async () => {
    const direct = await startTestService(server.redis);
    const statuses = [];
    for (let index = 0; index < 11; index += 1) {
      const browser = new Browser(direct.url, { 'x-forwarded-for': `10.0.0.${index}` });
      const answer = await browser.submit(await browser.get(authorizePath()), { username: 'alice', password: 'x' });
      statuses.push(answer.statusCode);
    }
    await direct.close();
    expect(statuses.at(-1)).toBe(429);
  });

  test('counts and answers unknown names like known ones', async () => {
    const attempt = await loginFrom('10.0.0.1');
    const [known, unknown] = [await attempt('alice', 'x'), await attempt('nobody', 'x')];
    expect(unknown.statusCode).toBe(known.statusCode);
    expect(unknown.body.replaceAll(/value="[^"]*"/g, '')).toBe(known.body.replaceAll(/value="[^"]*"/g, ''));
    expect(await server.redis.keys('*failed-logins:*')).toHaveLength(2);
  });
});

describe('login limits over many addresses and many names', () => {
  const limits = { ofNameAtAddress: 2, ofName: 10, ofAddress: 20, ofDevice: 4 };
  let throttle: LoginThrottle;
  beforeEach(() => {
    throttle = new LoginThrottle(new Store(server.redis, new KeyRing([Buffer.alloc(32)])), limits);
  });

  const attempt = (username: string, address: string, isRight = false, deviceId?: string) =>
    throttle.attempt({ username, address, deviceId }, async () => isRight);
  const isChecked = async (username: string, address: string, deviceId?: string) =>
    (await attempt(username, address, true, deviceId)).isRight;

  test('stop guesses of one name at the network where they are made, and nowhere else', async () => {
    for (let index = 0; index < 10; index += 1) await attempt('alice', `10.0.1.${index % 5}`);
    for (let index = 0; index < 5; index += 1) expect(await isChecked('alice', `10.0.1.${index}`)).toBe(false);
    expect(await isChecked('alice', '10.0.2.1')).toBe(true);
    expect(await isChecked('zhangwei', '10.0.1.1')).toBe(true);
    expect(await isChecked('alice', '10.0.1.1', 'a-device')).toBe(true);
  });

  test('stop guesses for many names at the limit of the address, even for people who signed in there before', async () => {
    expect(await isChecked('alice', '10.0.0.1')).toBe(true);
    for (let index = 0; index < 20; index += 1) await attempt(`person${index}`, '10.0.0.1');
    expect(await isChecked('zhangwei', '10.0.0.1')).toBe(false);
    expect(await isChecked('alice', '10.0.0.1')).toBe(false);
    expect(await isChecked('alice', '10.0.0.1', 'a-device')).toBe(true);
    expect(await isChecked('zhangwei', '10.0.0.2')).toBe(true);
  });

  test('count wrong passwords in a known browser for its address too', async () => {
    for (let index = 0; index < 20; index += 1) await attempt('alice', '10.0.0.1', false, `device${index}`);
    expect(await isChecked('zhangwei', '10.0.0.1')).toBe(false);
  });

  test('give a known browser a separate limit that locks out no one else', async () => {
    for (let index = 0; index < 4; index += 1) await attempt('alice', '10.0.0.1', false, 'a-device');
    expect(await isChecked('alice', '10.0.0.1', 'a-device')).toBe(false);
    expect(await isChecked('alice', '10.0.0.1')).toBe(true);
  });

  test('check exactly as many of 200 concurrent wrong passwords as the address may try', async () => {
    let lookedAt = 0;
    const check = async () => {
      lookedAt += 1;
      await new Promise((resolve) => setTimeout(resolve, 1));
      return false;
    };
    const tries = Array.from({ length: 200 }, (_, index) => ({ username: `p${index}`, address: '10.0.0.1' }));
    await Promise.all(tries.map((tried) => throttle.attempt({ ...tried, deviceId: undefined }, check)));
    expect(lookedAt).toBe(20);
  });

  test('do not count right passwords: 30 people sign in at one address, and one person at 30 addresses', async () => {
    for (let index = 0; index < 30; index += 1) {
      expect(await isChecked(`person${index}`, '10.0.0.1')).toBe(true);
      expect(await isChecked('alice', `10.0.1.${index}`)).toBe(true);
    }
  });

  test('keep the counts of failed comparisons, and delay no one', async () => {
    const fail = (index: number) =>
      throttle.attempt({ username: `p${index}`, address: `10.0.1.${index}`, deviceId: undefined }, () =>
        Promise.reject(new Error('x')),
      );
    await Promise.all(Array.from({ length: 20 }, (_, index) => expect(fail(index)).rejects.toThrow('x')));
    expect(await isChecked('alice', '10.0.0.1')).toBe(true);
  });
});

test('a password with a costly hash is compared, and its guesses are limited as well', async () => {
  const [alice] = PEOPLE.slice(1);
  const password = '$scrypt$ln=14,r=8,p=1$MDEyMzQ1Njc4OWFiY2RlZg$'.padEnd(93, 'A');
  const costly = await startTestService(server.redis, {
    directory: parseDirectoryFile(JSON.stringify([{ ...alice, password }])),
  });
  const browser = new Browser(costly.url);
  const page = await browser.get(authorizePath());
  const answers = await Promise.all(
    Array.from({ length: 30 }, () => browser.submit(page, { username: 'alice', password: 'guess' })),
  );
  await costly.close();
  expect(answers.filter(({ statusCode }) => statusCode === 401)).toHaveLength(10);
});
