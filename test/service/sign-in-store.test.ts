import { createHash } from 'node:crypto';
import { expect, test } from '@jest/globals';
import type { RedisClient } from '../../src/shared/redis/redis.ts';
import { authorizePath, Browser, exchange, startTestService } from './support.ts';
import { useTestService } from './use-test-service.ts';

const { server, service } = useTestService();

/** Reads every key with its complete value. */
async function readAll(redis: RedisClient): Promise<string[]> {
  const keys = await redis.keys('*');
  return Promise.all(
    keys.map(async (key) => {
      switch (await redis.type(key)) {
        case 'string':
          return `${key} ${(await redis.get(key)) ?? ''}`;
        case 'hash':
          return `${key} ${JSON.stringify(await redis.hgetall(key))}`;
        case 'zset':
          return `${key} ${(await redis.zrange(key, '0', '-1', 'WITHSCORES')).join(' ')}`;
        default:
          throw new Error(`${key} is of a kind that this test does not read`);
      }
    }),
  );
}

/** Completes a sign-in and collects all issued and typed values. */
async function walkTheWholeWay(): Promise<string[]> {
  const browser = new Browser(service.url);
  const verifier = 'a-verifier-that-nobody-may-read'.padEnd(50, 'v');
  const challenge = createHash('sha256').update(verifier).digest('base64url');
  const path = authorizePath({ state: 'the-state', code_challenge: challenge, code_challenge_method: 'S256' });
  const login = await browser.get(path);
  const before = [...browser.cookies.values()];
  const wrong = await browser.submit(login, { username: 'zhangwei', password: 'a-wrong-guess' });
  const consent = await browser.follow(
    await browser.submit(wrong, { username: 'zhangwei', password: 'zhangwei-pass' }),
  );
  const back = await browser.submit(consent, { decision: 'allow', remember: 'yes' });
  const code = new URL(back.headers.location ?? 'missing:').searchParams.get('code') ?? '';
  const { body } = await exchange(service, code, { code_verifier: verifier });
  const refreshed = await exchange(service, '', {
    grant_type: 'refresh_token',
    refresh_token: String(body.refresh_token),
  });
  // A second code remains unused, and a wrong guess stays counted.
  const waiting = await browser.get(path);
  const stranger = new Browser(service.url);
  await stranger.submit(await stranger.get(path), { username: 'zhangwei', password: 'a-wrong-guess' });
  const waitingCode = new URL(waiting.headers.location ?? 'missing:').searchParams.get('code') ?? '';
  const people = ['zhangwei', '张伟', '20190001', 'zhangweiWeCom', 'Library'];
  const typed = ['a-wrong-guess', 'zhangwei-pass', 'the-secret', verifier, 'the-state'];
  return [
    ...[code, waitingCode, String(body.access_token), String(body.refresh_token), String(refreshed.body.access_token)],
    ...[...before, ...browser.cookies.values(), ...stranger.cookies.values()],
    ...people,
    ...typed,
  ];
}

test('Redis and the log contain no issued or typed secret and no name in plain text, and every key expires', async () => {
  const secrets = await walkTheWholeWay();
  expect(secrets.filter((secret) => secret.length < 4 && !/\p{Script=Han}/u.test(secret))).toEqual([]);
  const stored = await readAll(server.redis);
  const kinds = stored.map((line) => line.split(':')[1]);
  expect([...new Set(kinds)].sort()).toEqual([
    'access',
    'code',
    'consents',
    'failed-logins',
    'failed-logins-of-address',
    'failed-logins-of-name',
    'grant',
    'grants',
    'refresh',
    'session',
  ]);
  const readable = [...stored, ...service.logLines].join('\n');
  for (const secret of secrets) {
    for (const shape of [secret, encodeURIComponent(secret), Buffer.from(secret).toString('base64url')])
      expect([secret, readable.includes(shape)]).toEqual([secret, false]);
  }
  const keys = await server.redis.keys('*');
  const lives = await Promise.all(keys.map((key) => server.redis.pttl(key)));
  expect(lives.every((ms) => ms > 0)).toBe(true);
});

test('records encrypted with a lost key only make people sign in again', async () => {
  const browser = new Browser(service.url);
  const login = await browser.get(authorizePath());
  const consent = await browser.follow(await browser.submit(login, { username: 'alice', password: 'alice-pass' }));
  const back = await browser.submit(consent, { decision: 'allow' });
  const code = new URL(back.headers.location ?? 'missing:').searchParams.get('code') ?? '';
  const { body } = await exchange(service, code);
  const restarted = await startTestService(server.redis);
  const visitor = new Browser(restarted.url);
  for (const [name, value] of browser.cookies) visitor.cookies.set(name, value);
  expect((await visitor.get(authorizePath())).body).toContain('name="password"');
  const form = { grant_type: 'refresh_token', refresh_token: String(body.refresh_token) };
  expect((await exchange(restarted, '', form)).body.error).toBe('invalid_grant');
  await restarted.close();
});
