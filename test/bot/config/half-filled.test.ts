import { describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describeSetting } from '../../../src/bot/config/describe-settings.ts';
import { SETTING_NAMES } from '../../../src/bot/config/schema.ts';
import { faultyNames, folderWith, load, loadSound, SECRET_KEY, SERVING, without } from './environments.ts';

/** The settings block of docs/guide/WECOM.md, as an operator copies it. */
function blockOfWecomPage(): string {
  const block = /```sh\n(\s*PUBLIC_URL=[\s\S]*?)```/.exec(readFileSync('docs/guide/WECOM.md', 'utf8'))?.[1] ?? '';
  return block.replaceAll(/^ +/gm, '');
}

const file = (lines: Readonly<Record<string, string>>) =>
  folderWith({
    'config/.env': Object.entries(lines)
      .map(([name, value]) => `${name}=${value}`)
      .join('\n'),
  });

describe('a setting without a value in the settings file', () => {
  test('is a fault that names it, so that the block of docs/guide/WECOM.md never ends in local mode', () => {
    const cwd = folderWith({ 'config/.env': blockOfWecomPage() });
    expect(faultyNames({}, cwd).toSorted()).toEqual([
      'CHAT_API_KEY',
      'SECRET_KEY',
      'SIGN_IN_CLIENT_ID',
      'SIGN_IN_CLIENT_SECRET',
      'WECOM_AGENT_ID',
      'WECOM_AGENT_SECRET',
      'WECOM_BOT_AES_KEY',
      'WECOM_BOT_TOKEN',
      'WECOM_CORP_ID',
    ]);
    const loaded = load({}, cwd);
    expect(!loaded.ok && loaded.faults.find(({ setting }) => setting === 'SECRET_KEY')?.message).toMatch(
      /^SECRET_KEY has no value in .*config\/\.env: .*openssl rand -base64 32/,
    );
  });

  test('is reported first, with its consequences in one line', () => {
    const cwd = file({ WECOM_BOT_TOKEN: '' });
    const loaded = load({}, cwd);
    expect(!loaded.ok && loaded.faults.map(({ message }) => message)).toEqual([
      expect.stringMatching(/^WECOM_BOT_TOKEN has no value in .*config\/\.env/),
      expect.stringMatching(
        /^[A-Z_]+(?:, [A-Z_]+){3,} are required too, because a platform is configured; .*for local mode remove the empty line$/,
      ),
    ]);
    for (const name of ['CHAT_BASE_URL', 'REDIS_URL', 'SECRET_KEY', 'SIGN_IN_URL', 'WECOM_BOT_AES_KEY'])
      expect(!loaded.ok && loaded.faults[1]?.message).toContain(name);
  });

  test('does not hide other missing settings if a platform is configured', () => {
    const loaded = load({}, file({ ...without(SERVING, 'REDIS_URL', 'SECRET_KEY'), CHAT_API_KEY: '' }));
    expect(!loaded.ok && loaded.faults.map(({ setting }) => setting)).toEqual([
      'CHAT_API_KEY',
      'REDIS_URL',
      'SECRET_KEY',
    ]);
  });

  test('is a fault for every setting except those that may be empty', () => {
    fc.assert(
      fc.property(fc.constantFrom(...SETTING_NAMES), fc.constantFrom('', ' ', '""', '# later'), (name, nothing) => {
        const cwd = file({ ...SERVING, [name]: nothing });
        expect(faultyNames({}, cwd).includes(name)).toBe(describeSetting(name).isNoneWhenEmpty !== true);
      }),
    );
    expect(SETTING_NAMES.filter((name) => describeSetting(name).isNoneWhenEmpty)).toEqual(['SECRET_KEY_PREVIOUS']);
  });

  test('is no fault if the environment or a _FILE setting provides the value', () => {
    const cwd = file({ ...SERVING, SECRET_KEY: '' });
    expect(loadSound({ SECRET_KEY }, cwd).secrets.secretKey).toHaveLength(32);
    const beside = folderWith({ key: SECRET_KEY });
    expect(loadSound({ SECRET_KEY_FILE: `${beside}/key` }, cwd).secrets.secretKey).toHaveLength(32);
  });

  test('counts as unset with a warning if it is an empty environment variable', () => {
    const loaded = loadSound({ ...SERVING, SIGN_IN_HELP_URL: '', SECRET_KEY_PREVIOUS: '' });
    expect(loaded.warnings).toEqual(['SIGN_IN_HELP_URL is empty in the process environment and counts as unset']);
  });
});

describe('production settings without a platform', () => {
  test.each<[string, Record<string, string>]>([
    ['PUBLIC_URL', { PUBLIC_URL: 'https://parley.example.org' }],
    ['CHAT_BASE_URL', { CHAT_BASE_URL: 'https://chat.example.org/v1', CHAT_API_KEY: 'k' }],
    ['NODE_ENV', { NODE_ENV: 'production' }],
    ['PUBLIC_URL', { ...without(SERVING, ...Object.keys(SERVING).filter((name) => name.startsWith('WECOM_'))) }],
  ])('are rejected with a hint at the missing platform: %s', (name, env) => {
    const loaded = load(env);
    expect(!loaded.ok && loaded.faults).toEqual([
      {
        setting: name,
        message: expect.stringMatching(
          /no platform is configured.*WECOM_BOT_TOKEN.*MESSENGER_PROTOCOL=wecom(?:, or remove [A-Z_ a-z]+)?$/,
        ),
      },
    ]);
  });

  test('run in local mode if MESSENGER_PROTOCOL is set', () => {
    const { config } = loadSound({
      ...{ MESSENGER_PROTOCOL: 'wecom', NODE_ENV: 'production' },
      ...{ CHAT_BASE_URL: 'https://chat.example.org/v1', CHAT_API_KEY: 'k' },
    });
    expect([config.mode, config.embedded.chat, config.chat.baseUrl]).toEqual([
      'local',
      false,
      'https://chat.example.org/v1',
    ]);
  });

  test('are not questioned on the loopback interface or if ROLES is set', () => {
    expect(loadSound({ PUBLIC_URL: 'http://localhost:8080' }).config.mode).toBe('local');
    expect(loadSound({ CHAT_BASE_URL: 'http://[::1]:9000/v1', CHAT_API_KEY: 'k' }).config.mode).toBe('local');
    const serving = { ...without(SERVING, 'WECOM_BOT_TOKEN', 'WECOM_BOT_AES_KEY', 'WECOM_BOT_NAME') };
    expect(loadSound({ ...serving, NODE_ENV: 'production', ROLES: 'worker' }).config.mode).toBe('serving');
    expect(loadSound({ NODE_ENV: 'production', ROLES: 'service' }).config.roles).toEqual(['service']);
  });
});

test('an unreadable settings file is a fault unless the environment has the settings, and one with a byte order mark is read', () => {
  // A folder at that path is unreadable even for root.
  const cwd = folderWith({ 'config/.env/inside': '' });
  expect(faultyNames({}, cwd)).toEqual(['ENV_FILE']);
  expect(faultyNames(SERVING, cwd)).toEqual([]);
  expect(faultyNames({ ...SERVING, ENV_FILE: 'config/.env' }, cwd)).toEqual(['ENV_FILE']);
  expect(faultyNames({ ...SERVING, ROLES: 'receiver' }, cwd)).toEqual([]);
  expect(loadSound({}, folderWith({ 'config/.env': '\uFEFFPORT=9001\r\n' })).config.http.port).toBe(9001);
});

describe('ROLES=service', () => {
  test('listens on SERVICE_PORT or PORT, and rejects different values of both', () => {
    const portOf = (env: Record<string, string>) => loadSound({ ROLES: 'service', ...env }).config.http;
    expect(portOf({ SERVICE_PORT: '9081' })).toMatchObject({ port: 9081, publicUrl: 'http://127.0.0.1:9081' });
    expect(portOf({ PORT: '9080' }).port).toBe(9080);
    expect(portOf({}).port).toBe(8080);
    expect(portOf({ PORT: '9080', SERVICE_PORT: '9080' }).port).toBe(9080);
    expect(faultyNames({ ROLES: 'service', PORT: '9080', SERVICE_PORT: '9081' })).toEqual(['SERVICE_PORT']);
  });

  test('needs SERVICE_PUBLIC_URL if the settings are those of a bot', () => {
    const { warnings, config } = loadSound({ ...SERVING, ROLES: 'service' });
    expect([warnings.join(), config.http.publicUrl]).toEqual([
      expect.stringMatching(/^SERVICE_PUBLIC_URL is not set/),
      SERVING['PUBLIC_URL'],
    ]);
    const own = { SERVICE_PUBLIC_URL: 'https://service.example.org' };
    expect(loadSound({ ...SERVING, ...own, ROLES: 'service' }).config.http.publicUrl).toBe(own.SERVICE_PUBLIC_URL);
    expect(loadSound({ ...SERVING, ...own }).config.http.publicUrl).toBe(SERVING['PUBLIC_URL']);
  });
});
