import { createSecretKey } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { got } from 'got';
import { argon2id } from 'hash-wasm';
import { KeyRing } from '../../src/shared/crypto/key-ring.ts';
import { parseDirectoryFile, type ServicePerson } from '../../src/service/directory-file.ts';
import { LoginQueue } from '../../src/service/oauth/login-queue.ts';
import { DEFAULT_LOGIN_LIMITS, LoginThrottle } from '../../src/service/oauth/login-throttle.ts';
import { TimingDummyHash } from '../../src/service/oauth/timing-dummy-hash.ts';
import { verifyPassword } from '../../src/service/oauth/passwords.ts';
import { Store } from '../../src/service/oauth/store.ts';
import { useTestRedis } from '../support/use-test-redis.ts';
import { authorizePath, Browser, PEOPLE, startTestService } from './support.ts';

const SCRYPT = `$scrypt$ln=12,r=8,p=1$${'c2FsdHNhbHRzYWx0c2E'.padEnd(22, 'A')}$${'B'.repeat(43)}`;

const server = useTestRedis();
let argon2: string;
beforeAll(async () => {
  const cost = { parallelism: 1, iterations: 3, memorySize: 16_384, hashLength: 32 };
  argon2 = await argon2id({ ...cost, password: 'alice-pass', salt: 'salt-of-sixteen-', outputType: 'encoded' });
});

function directoryOf(...passwords: string[]): ServicePerson[] {
  const [zhangwei, alice] = PEOPLE;
  const people = [{ ...alice, password: passwords[0] }];
  const others = passwords.slice(1).map((password) => ({ ...zhangwei, password }));
  return parseDirectoryFile(JSON.stringify([...people, ...others]));
}

test('requests are served while costly passwords are compared', async () => {
  const service = await startTestService(server.redis, { directory: directoryOf(argon2) });
  const browser = new Browser(service.url);
  const page = await browser.get(authorizePath());
  const progress = { isOver: false };
  const logins = Promise.all(
    Array.from({ length: 8 }, () => browser.submit(page, { username: 'alice', password: 'alice-pass' })),
  ).finally(() => (progress.isOver = true));
  let answered = 0;
  while (!progress.isOver) {
    await got(`${service.url}/healthz`);
    answered += 1;
  }
  expect((await logins).map(({ statusCode }) => statusCode)).toEqual(Array<number>(8).fill(303));
  // If comparisons ran on the event loop, only one or two requests would be served between them.
  expect(answered).toBeGreaterThan(25);
  await service.close();
});

describe('the queue of password comparisons', () => {
  test('refuses logins above its limit with 503, prefers known browsers, and loses none', async () => {
    const throttle = new LoginThrottle(
      new Store(server.redis, new KeyRing([Buffer.alloc(32)])),
      DEFAULT_LOGIN_LIMITS,
      new LoginQueue(5),
    );
    let open = (): void => undefined;
    const gate = new Promise<void>((resolve) => (open = resolve));
    const lookedAt: string[] = [];
    const attempt = (username: string, deviceId?: string) =>
      throttle.attempt({ username, address: '10.0.0.1', deviceId }, async () => {
        await gate;
        lookedAt.push(username);
        return true;
      });
    const outcomes = Array.from({ length: 12 }, (_, index) => attempt(`p${index}`).catch((error: unknown) => error));
    const known = attempt('known', 'a-device');
    const refused = (await Promise.all(outcomes.slice(-4))) as {
      code: string;
      status: number;
      retryAfterSec: number;
    }[];
    expect(refused).toMatchObject(Array(4).fill({ code: 'busy', status: 503, retryAfterSec: 10 }));
    open();
    await known;
    expect(lookedAt.indexOf('known')).toBeLessThan(4);
    const verdicts = (await Promise.all(outcomes)) as { isRight?: boolean }[];
    expect(verdicts.filter(({ isRight }) => isRight === true)).toHaveLength(lookedAt.length - 1);
    expect(lookedAt.length).toBeGreaterThanOrEqual(8);
  });
});

describe('the dummy hash of an unknown name', () => {
  const costOf = (stored: string) => stored.split('$').slice(0, -2).join('$');

  test('costs the same as a hash in the directory, is constant per name, and matches no password', async () => {
    const nobody = new TimingDummyHash(directoryOf(argon2, SCRYPT), createSecretKey(Buffer.alloc(32, 1)));
    const picked = new Set<string>();
    for (let index = 0; index < 40; index += 1) {
      const stored = nobody.hashFor(`nobody${index}`);
      expect(nobody.hashFor(`nobody${index}`)).toBe(stored);
      picked.add(costOf(stored));
    }
    expect(picked).toEqual(new Set([argon2, SCRYPT].map(costOf)));
    for (const name of ['nobody1', 'nobody2', 'nobody3'])
      for (const typed of ['alice-pass', '', 'A'.repeat(43)])
        expect(await verifyPassword(typed, nobody.hashFor(name))).toBe(false);
  });

  test('has a cost even if no person has a password', async () => {
    expect(new TimingDummyHash([], createSecretKey(Buffer.alloc(32))).hashFor('alice')).toMatch(/^\$scrypt\$ln=14,/);
  });
});
