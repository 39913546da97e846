import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Registry } from 'prom-client';
import { freePort } from '../../src/bot/app/local/embedded-redis.ts';
import { runCheckCommand } from '../../src/cli/check/check-command.ts';
import { faultsOfNamedFiles } from '../../src/cli/check/config-files.ts';
import { startServicePart } from '../../src/bot/app/service.ts';
import { folderWith, loadSound } from '../bot/config/environments.ts';
import { recordingLog, startTestRedis, type TestRedis } from '../support/redis.ts';
import { startHostileProvider } from './hostile-oidc-provider.ts';
import { authorizePath, Browser, CLIENT } from './support.ts';

let server: TestRedis;
beforeAll(async () => {
  server = await startTestRedis();
});
afterAll(async () => server.stop());

/** The service alone, with the settings of a typical institution. */
async function startFromSettings(settings: Record<string, string>) {
  const cwd = folderWith({
    'clients.json': JSON.stringify([CLIENT]),
    'map.json': JSON.stringify({ XM: 'name', BMMC: { value: 'Library' } }),
  });
  const port = await freePort();
  const { config, secrets } = loadSound(
    {
      ROLES: 'service',
      HOST: '127.0.0.1',
      PORT: String(port),
      REDIS_URL: server.url,
      SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
      SERVICE_API_KEYS: 'sk-1',
      SERVICE_CLIENTS_FILE: 'clients.json',
      SERVICE_PROFILE_MAP_FILE: 'map.json',
      ...settings,
    },
    cwd,
  );
  const { log, lines } = recordingLog();
  const nowMs = () => Date.now();
  const service = await startServicePart({ config, secrets, clients: undefined, registry: new Registry(), nowMs, log });
  // It serves before its connection to Redis is established.
  for (let answer = 0; answer !== 200;) answer = (await fetch(`${service.url}/readyz`)).status;
  return {
    ...service,
    /** What the process says about the keys of the others: `/readyz`, metric, log, and the check with its settings. */
    async saysOfKeys() {
      const { parts } = (await (await fetch(`${service.url}/readyz`)).json()) as { parts: { keys?: string } };
      const metrics = await (await fetch(`${service.url}/metrics`)).text();
      const written: string[] = [];
      await runCheckCommand(config, secrets, { write: (line) => written.push(line) });
      return {
        readyz: parts.keys ?? '',
        metric: /^parley_service_foreign_keys_processes (\d+)$/m.exec(metrics)?.[1],
        log: lines.filter((line) => line.includes('use other keys')).join('\n'),
        check: written.filter((line) => line.includes('use other keys')).join('\n'),
      };
    },
  };
}

const keyOf = (digit: number) => Buffer.alloc(32, digit).toString('base64');

describe('two service processes on one Redis [health]', () => {
  const [A, B, OLD] = [keyOf(1), keyOf(2), keyOf(3)];
  type Keys = Record<string, string>;
  const keys = (SECRET_KEY: string, SECRET_KEY_PREVIOUS = ''): Keys => ({
    ...{ SECRET_KEY, SECRET_KEY_PREVIOUS, SERVICE_CAS_URL: 'http://127.0.0.1:7/cas' },
  });

  test.each<[string, Keys, Keys, boolean]>([
    ['report each other with different keys', keys(A), keys(B), true],
    ['report each other if they share only a previous key', keys(A, OLD), keys(B, OLD), true],
    ['report nothing with the same key', keys(A), keys(A), false],
    ['report nothing while the new key is added', keys(A), keys(A, B), false],
    ['report nothing while the keys are swapped', keys(A, B), keys(B, A), false],
    ['report nothing while the key is changed in one step', keys(A), keys(B, A), false],
    ['report nothing while the old key is removed', keys(B, A), keys(B), false],
  ])('%s in /readyz, metric, log and check', async (_, ours, theirs, isReported) => {
    const one = await startFromSettings(ours);
    const other = await startFromSettings(theirs);
    for (const said of [await one.saysOfKeys(), await other.saysOfKeys()]) {
      const { metric, ...texts } = said;
      expect(metric).toBe(isReported ? '1' : '0');
      for (const text of Object.values(texts)) {
        if (isReported)
          expect(text).toMatch(
            /service processes on this Redis use other keys \([0-9a-f]{8}, this one [0-9a-f]{8}\).*SECRET_KEY/,
          );
        else expect(text).toBe('');
      }
    }
    const stored = (await server.redis.zrange('{service}:keys', '0', '-1')).join(' ');
    expect(stored).not.toBe('');
    for (const key of [A, B, OLD]) {
      expect(stored).not.toContain(key);
      expect(stored).not.toContain(Buffer.from(key, 'base64').toString('hex'));
    }
    await other.close();
    expect(await one.saysOfKeys()).toMatchObject({ readyz: '', metric: '0', check: '' });
    await one.close();
    expect(await server.redis.exists('{service}:keys')).toBe(0);
  });

  test('forget a process that crashed', async () => {
    const one = await startFromSettings(keys(A));
    await server.redis.zadd('{service}:keys', Date.now() + 20_000, 'crashed:0badc0de');
    expect((await one.saysOfKeys()).readyz).toContain('other keys (0badc0de,');
    await server.redis.zadd('{service}:keys', Date.now() - 1, 'crashed:0badc0de');
    expect((await one.saysOfKeys()).readyz).toBe('');
    await one.close();
  });
});

test('settings for OpenID Connect are sufficient to sign in with the provider', async () => {
  const provider = await startHostileProvider();
  const service = await startFromSettings({
    SERVICE_OIDC_ISSUER: provider.url,
    SERVICE_OIDC_CLIENT_ID: 'campus-chat',
    SERVICE_OIDC_CLIENT_SECRET: 'oidc-client-secret',
  });
  const browser = new Browser(service.url);
  const away = await browser.get(authorizePath());
  const consent = await browser.follow(await browser.get(provider.comeBack(away.headers.location ?? '')));
  expect(consent.body).toMatch(/Li Lei[^]*Library/);
  await Promise.all([service.close(), provider.close()]);
});

test('settings for CAS are sufficient to redirect to its login', async () => {
  const service = await startFromSettings({ SERVICE_CAS_URL: 'http://127.0.0.1:7/cas' });
  const away = await new Browser(service.url).get(authorizePath());
  expect(away.headers.location).toMatch(/^http:\/\/127\.0\.0\.1:7\/cas\/login\?service=/);
  await service.close();
});

test('an invalid profile map is reported as a setting to fix, with every fault', async () => {
  const cwd = folderWith({ 'map.json': JSON.stringify({ Name: 'name', id: [] }) });
  const given = { ROLES: 'service', SERVICE_CAS_URL: 'https://cas.example.edu/cas' };
  const faultsWith = (path: string) =>
    faultsOfNamedFiles(loadSound({ ...given, SERVICE_PROFILE_MAP_FILE: path }, cwd).config);
  const faults = await faultsWith('map.json');
  expect(faults).toHaveLength(2);
  for (const fault of faults) expect(fault).toMatch(/^SERVICE_PROFILE_MAP_FILE \(.*map\.json\): /);
  expect(await faultsWith('missing.json')).toEqual([
    expect.stringMatching(/^SERVICE_PROFILE_MAP_FILE names .*missing\.json, which cannot be read/),
  ]);
});
