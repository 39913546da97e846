import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Registry } from 'prom-client';
import { freePort } from '../../src/bot/app/local/embedded-redis.ts';
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
  const { log } = recordingLog();
  const nowMs = () => Date.now();
  const service = await startServicePart({ config, secrets, clients: undefined, registry: new Registry(), nowMs, log });
  // It serves before its connection to Redis is established.
  for (let answer = 0; answer !== 200;) answer = (await fetch(`${service.url}/readyz`)).status;
  return service;
}

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
