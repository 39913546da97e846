import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { describeWith } from '../support/with-program.ts';
import { composeSource, DEMO_FILE, PRODUCTION_FILE, readCompose, type ComposeService } from './compose-file.ts';

const PROFILES = [...new Set(Object.values(readCompose()).flatMap(({ profiles = [] }) => profiles))];
const ALWAYS = ['receiver', 'redis', 'worker-1', 'worker-2'];
const PASSWORD = 'a1b2c3d4e5f6';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'parley-compose-'));
  mkdirSync(join(folder, 'config'));
  cpSync('config/.env.example', join(folder, 'config/.env'));
});
afterAll(() => rmSync(folder, { recursive: true }));

interface Said {
  services: Record<string, Omit<ComposeService, 'environment'> & { environment?: Record<string, string | null> }>;
}

/** The configuration that docker-compose reads from the file. @throws Error with its message if it refuses the file */
async function config(
  profiles: readonly string[],
  file = composeSource(),
  env = `REDIS_PASSWORD=${PASSWORD}\nPARLEY_HOST=parley.example.org\n`,
): Promise<Said> {
  writeFileSync(join(folder, 'docker-compose.yml'), file);
  writeFileSync(join(folder, '.env'), env);
  const args = [...profiles.flatMap((profile) => ['--profile', profile]), 'config'];
  const shell = { PATH: process.env['PATH'], HOME: folder };
  const { stdout } = await promisify(execFile)('docker-compose', args, { cwd: folder, env: shell });
  return parse(stdout) as Said;
}

describeWith('docker-compose', 'docker-compose with the shipped files', () => {
  test.each([
    ['without a profile', []],
    ...PROFILES.map((profile): [string, string[]] => [`with ${profile}`, [profile]]),
    ['with every profile', PROFILES],
  ])('accepts it %s and lists the started services', async (_, profiles) => {
    const { services } = await config(profiles);
    const added = Object.entries(readCompose()).filter(([, each]) =>
      each.profiles?.some((name) => profiles.includes(name)),
    );
    // The first version of Compose also lists services of other profiles.
    expect(Object.keys(services)).toEqual(expect.arrayContaining([...ALWAYS, ...added.map(([name]) => name)]));
  });

  test('passes the password of .env to Redis and its clients, and the host name to the proxy', async () => {
    const { services } = await config(PROFILES);
    const said = (name: string) => services[name]?.environment ?? {};
    for (const name of ['redis', 'service-redis', 'backup', 'restore'])
      expect(said(name)['REDISCLI_AUTH']).toBe(PASSWORD);
    for (const name of ['receiver', 'worker-1', 'worker-2', 'check', 'parley'])
      expect(said(name)['REDIS_URL']).toBe(`redis://:${PASSWORD}@redis:6379`);
    expect(said('service')['REDIS_URL']).toBe(`redis://:${PASSWORD}@service-redis:6379`);
    expect(said('proxy')['PARLEY_HOST']).toBe('parley.example.org');
  });

  test('starts the demo from the default file without any setting, on this machine only', async () => {
    rmSync(join(folder, 'config/.env'));
    const { services } = await config([], composeSource(DEMO_FILE), '');
    cpSync('config/.env.example', join(folder, 'config/.env'));
    expect(Object.keys(services).toSorted()).toEqual(['demo', 'demo-redis']);
    expect(services['demo']?.environment).toMatchObject({ MESSENGER_PROTOCOL: 'wecom' });
    for (const port of services['demo']?.ports ?? []) expect(port).toMatch(/^127\.0\.0\.1:/);
    const mounts = services['demo']?.volumes?.map((mount) => mount.replace(/^[^:]*:/, ''));
    expect(mounts).toEqual(expect.not.arrayContaining([expect.stringMatching(/config|\.env/)]));
  });

  test('refuses a file with a fault, which proves that the other tests are effective', async () => {
    const file = readFileSync(PRODUCTION_FILE, 'utf8').replace('pids_limit:', 'pid_limit:');
    await expect(config([], file)).rejects.toThrow(/pid_limit/);
  });
});
