import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runInThisContext } from 'node:vm';
import { Redis } from 'ioredis';
import { connectRedis } from '../../../src/shared/redis/redis.ts';
import { checkRedis } from '../../../src/cli/check/check-redis.ts';
import { redisAddress } from '../../../src/bot/app/secrets.ts';
import { exitWithParent } from '../../../src/shared/process/exit-with-parent.ts';
import { freePort } from '../../../src/bot/app/local/embedded-redis.ts';
import { findRedisProgram } from '../../../src/bot/app/local/redis-program.ts';
import { loadSettings } from '../../../src/bot/config/load-settings.ts';
import { SERVING } from '../../bot/config/environments.ts';
import { recordingLog } from '../../support/redis.ts';
import { untilTrue } from '../../support/deployment.ts';
import { CLOSED_PORT } from '../../support/closed-port.ts';

interface Access {
  password?: string;
  isTls?: boolean;
}

/** Node reads this from the real process environment, of which a test only has a copy. */
const trustAll = (isSo: boolean) =>
  runInThisContext(`process.env.NODE_TLS_REJECT_UNAUTHORIZED = '${isSo ? '0' : '1'}'`) as unknown;

const folder = mkdtempSync(join(tmpdir(), 'parley-sentinels-'));
const endings: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
  trustAll(false);
});

beforeAll(() => {
  const subject = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1', '-days', '2'];
  const out = ['-keyout', join(folder, 'key.pem'), '-out', join(folder, 'cert.pem')];
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', ...out, ...subject], { stdio: 'ignore' });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function listening(port: number, { password, isTls = false }: Access): string[] {
  const files = ['cert', 'key'].map((part) => `tls-${part}-file ${join(folder, `${part}.pem`)}`);
  const tls = [
    `tls-port ${port}`,
    'port 0',
    ...files,
    `tls-ca-cert-file ${join(folder, 'cert.pem')}`,
    'tls-auth-clients no',
  ];
  return [
    ...(isTls ? tls : [`port ${port}`]),
    ...(password === undefined ? [] : [`requirepass ${password}`]),
    ...['bind 127.0.0.1', 'save ""', 'appendonly yes', `dir ${mkdtempSync(join(folder, 'server-'))}`],
  ];
}

async function run(port: number, access: Access, more: string[], ...flags: string[]): Promise<void> {
  const file = join(folder, `${port}.conf`);
  writeFileSync(file, [...listening(port, access), ...more, ''].join('\n'));
  const child = spawn(findRedisProgram(), [file, ...flags], { stdio: 'ignore' });
  exitWithParent(child);
  const ended = once(child, 'exit');
  endings.push(async () => (child.kill('SIGKILL'), ended));
  const redis = new Redis({
    ...{ port, host: '127.0.0.1', password: access.password, maxRetriesPerRequest: null },
    tls: access.isTls ? { rejectUnauthorized: false } : undefined,
  });
  redis.on('error', () => undefined);
  await redis.ping();
  redis.disconnect();
}

/** A master and one sentinel, each with its own credentials. */
async function startPair(master: Access, sentinel: Access): Promise<{ masterPort: number; sentinelPort: number }> {
  const [masterPort, sentinelPort] = [await freePort(), await freePort()];
  await run(masterPort, master, []);
  const watched = [`sentinel monitor main 127.0.0.1 ${masterPort} 1`];
  if (master.password !== undefined) watched.push(`sentinel auth-pass main ${master.password}`);
  if (master.isTls) watched.push('tls-replication yes');
  const plain = watched.filter((line) => !(line.startsWith('tls') && sentinel.isTls !== true));
  await run(sentinelPort, sentinel, plain, '--sentinel');
  return { masterPort, sentinelPort };
}

function addressOf(env: Record<string, string>) {
  const settings = loadSettings({ env: { ...SERVING, REDIS_SENTINEL_NAME: 'main', ...env }, cwd: folder });
  if (!settings.ok) throw new Error(JSON.stringify(settings.faults));
  return redisAddress(settings.config, settings.secrets);
}
const check = (env: Record<string, string>) =>
  checkRedis({ address: addressOf(env), isLossAllowed: false, log: recordingLog().log, answerLimitMs: 1_500 });
async function isServed(env: Record<string, string>): Promise<boolean> {
  const redis = connectRedis(addressOf(env), 'wait', recordingLog().log, 'test');
  endings.push(() => redis.disconnect());
  let isSet = false;
  redis.set('key', 'value').then(
    () => (isSet = true),
    () => undefined,
  );
  await untilTrue(() => isSet, 5_000).catch(() => undefined);
  return isSet;
}

const TLS: Access = { password: 'pw', isTls: true };
const CASES: { name: string; master: Access; sentinel: Access; url: string; env?: Record<string, string> }[] = [
  { name: 'one password for both', master: { password: 'pw' }, sentinel: { password: 'pw' }, url: 'redis://:pw@' },
  { name: 'one password for both, over TLS', master: TLS, sentinel: TLS, url: 'rediss://:pw@' },
  { name: 'a password for the master only', master: { password: 'pw' }, sentinel: {}, url: 'redis://:pw@' },
  {
    name: 'a password for each, with a user name',
    ...{ master: { password: 'pw' }, sentinel: { password: 'other' }, url: 'redis://default:pw@' },
    env: { REDIS_SENTINEL_PASSWORD: 'other', REDIS_SENTINEL_USERNAME: 'default' },
  },
  {
    name: 'a password for each',
    ...{ master: { password: 'pw' }, sentinel: { password: 'other' }, url: 'redis://:pw@' },
    env: { REDIS_SENTINEL_PASSWORD: 'other' },
  },
  {
    name: 'a password for the sentinels only',
    ...{ master: {}, sentinel: { password: 'other' }, url: 'redis://', env: { REDIS_SENTINEL_PASSWORD: 'other' } },
  },
  {
    name: 'TLS for the sentinels only',
    ...{ master: { password: 'pw' }, sentinel: TLS, url: 'redis://:pw@', env: { REDIS_SENTINEL_TLS: 'yes' } },
  },
];

test.each(CASES)(
  'sentinels and their master accept the configured credentials: $name',
  async ({ master, sentinel, url, env = {} }) => {
    trustAll(true);
    const { sentinelPort } = await startPair(master, sentinel);
    const all = { REDIS_URL: `${url}127.0.0.1:${sentinelPort}`, ...env };
    expect((await check(all)).filter(({ verdict }) => verdict !== 'ok')).toEqual([]);
    expect(await isServed(all)).toBe(true);
  },
  60_000,
);

test('the check says whether a sentinel or the master refuses the password, without a password', async () => {
  const { masterPort, sentinelPort } = await startPair({ password: 'right-one' }, { password: 'right-two' });
  const url = (password: string) => `redis://:${password}@127.0.0.1:${sentinelPort}`;
  const bySentinel = await check({ REDIS_URL: url('right-one') });
  expect(bySentinel).toEqual([
    expect.objectContaining({
      name: `Redis sentinel 127.0.0.1:${sentinelPort}`,
      verdict: 'fault',
      detail: 'refuses the user or the password',
      nextStep: expect.stringContaining('REDIS_SENTINEL_PASSWORD'),
    }),
  ]);
  const byMaster = await check({ REDIS_URL: url('wrong-one'), REDIS_SENTINEL_PASSWORD: 'right-two' });
  expect(byMaster).toContainEqual(
    expect.objectContaining({
      name: 'Redis',
      verdict: 'fault',
      detail: `the master 127.0.0.1:${masterPort} refuses the user or the password`,
    }),
  );
  expect(JSON.stringify([bySentinel, byMaster])).not.toMatch(/right-|wrong-/);
}, 60_000);

test('the check reports an untrusted certificate, a wrong name and a sentinel that does not answer', async () => {
  const { sentinelPort } = await startPair(TLS, TLS);
  const REDIS_URL = `rediss://:pw@127.0.0.1:${sentinelPort}`;
  expect((await check({ REDIS_URL }))[0]?.detail).toBe('presents a certificate that is not trusted');
  trustAll(true);
  expect((await check({ REDIS_URL, REDIS_SENTINEL_NAME: 'other' }))[0]?.nextStep).toContain('REDIS_SENTINEL_NAME');
  const [first, away] = await check({ REDIS_URL: `${REDIS_URL},rediss://127.0.0.1:${CLOSED_PORT}` });
  expect([first?.verdict, away?.detail]).toEqual(['ok', 'does not answer']);
}, 60_000);
