import { describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describeSetting } from '../../../src/bot/config/describe-settings.ts';
import { SETTING_NAMES } from '../../../src/bot/config/schema.ts';
import { faultyNames, folderWith, load, loadSound, SECRET_KEY, SERVING, without } from './environments.ts';

/** The block of settings for a real bot, as somebody copies it. */
function blockOfWecomPage(): string {
  const block = /```sh\n(\s*PUBLIC_URL=[\s\S]*?)```/.exec(readFileSync('docs/WECOM.md', 'utf8'))?.[1] ?? '';
  return block.replaceAll(/^ +/gm, '');
}

const file = (lines: Readonly<Record<string, string>>) =>
  folderWith({
    'config/.env': Object.entries(lines)
      .map(([name, value]) => `${name}=${value}`)
      .join('\n'),
  });

describe('a name that is written in the settings file without a value', () => {
  test('is a fault that names it: nothing of the block on the page ends in local mode', () => {
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
      /^SECRET_KEY is written without a value in .*config\/\.env: .*openssl rand -base64 32/,
    );
  });

  test('comes first, and what only follows from it is said in one line', () => {
    const cwd = file({ WECOM_BOT_TOKEN: '' });
    const loaded = load({}, cwd);
    expect(!loaded.ok && loaded.faults.map(({ message }) => message)).toEqual([
      expect.stringMatching(/^WECOM_BOT_TOKEN is written without a value in .*config\/\.env/),
      expect.stringMatching(/^[A-Z_]+(?:, [A-Z_]+){3,} follow from that: .*for local mode remove the empty line$/),
    ]);
    for (const name of ['CHAT_BASE_URL', 'REDIS_URL', 'SECRET_KEY', 'SIGN_IN_URL', 'WECOM_BOT_AES_KEY'])
      expect(!loaded.ok && loaded.faults[1]?.message).toContain(name);
  });

  test('does not hide what is missing beside a platform that is meant', () => {
    const loaded = load({}, file({ ...without(SERVING, 'REDIS_URL', 'SECRET_KEY'), CHAT_API_KEY: '' }));
    expect(!loaded.ok && loaded.faults.map(({ setting }) => setting)).toEqual([
      'CHAT_API_KEY',
      'REDIS_URL',
      'SECRET_KEY',
    ]);
  });

  test('is one for every setting, but those of which nothing is a value', () => {
    fc.assert(
      fc.property(fc.constantFrom(...SETTING_NAMES), fc.constantFrom('', ' ', '""', '# later'), (name, nothing) => {
        const cwd = file({ ...SERVING, [name]: nothing });
        expect(faultyNames({}, cwd).includes(name)).toBe(describeSetting(name).isNoneWhenEmpty !== true);
      }),
    );
    expect(SETTING_NAMES.filter((name) => describeSetting(name).isNoneWhenEmpty)).toEqual(['SECRET_KEY_PREVIOUS']);
  });

  test('is no fault where the environment, or a file of its own, gives the value', () => {
    const cwd = file({ ...SERVING, SECRET_KEY: '' });
    expect(loadSound({ SECRET_KEY }, cwd).secrets.secretKey).toHaveLength(32);
    const beside = folderWith({ key: SECRET_KEY });
    expect(loadSound({ SECRET_KEY_FILE: `${beside}/key` }, cwd).secrets.secretKey).toHaveLength(32);
  });

  test('counts as unset in the process environment, as container tools pass it, and is told', () => {
    const loaded = loadSound({ ...SERVING, SIGN_IN_HELP_URL: '', SECRET_KEY_PREVIOUS: '' });
    expect(loaded.warnings).toEqual(['SIGN_IN_HELP_URL is empty in the process environment: it counts as unset']);
  });
});

describe('settings for real people without a platform', () => {
  test.each<[string, Record<string, string>]>([
    ['PUBLIC_URL', { PUBLIC_URL: 'https://parley.example.org' }],
    ['CHAT_BASE_URL', { CHAT_BASE_URL: 'https://chat.example.org/v1', CHAT_API_KEY: 'k' }],
    ['NODE_ENV', { NODE_ENV: 'production' }],
    ['PUBLIC_URL', { ...without(SERVING, ...Object.keys(SERVING).filter((name) => name.startsWith('WECOM_'))) }],
  ])('%s elsewhere is a question, not local mode', (name, env) => {
    const loaded = load(env);
    expect(!loaded.ok && loaded.faults).toEqual([
      {
        setting: name,
        message: expect.stringMatching(
          /local mode.*or is a platform missing\?.*WECOM_BOT_TOKEN.*MESSENGER_PROTOCOL=wecom(?:, or remove [A-Z_ a-z]+)?$/,
        ),
      },
    ]);
  });

  test('local mode is what was meant where MESSENGER_PROTOCOL says so', () => {
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

  test('nothing is asked on this machine, nor where ROLES say what is run', () => {
    expect(loadSound({ PUBLIC_URL: 'http://localhost:8080' }).config.mode).toBe('local');
    expect(loadSound({ CHAT_BASE_URL: 'http://[::1]:9000/v1', CHAT_API_KEY: 'k' }).config.mode).toBe('local');
    const serving = { ...without(SERVING, 'WECOM_BOT_TOKEN', 'WECOM_BOT_AES_KEY', 'WECOM_BOT_NAME') };
    expect(loadSound({ ...serving, NODE_ENV: 'production', ROLES: 'worker' }).config.mode).toBe('serving');
    expect(loadSound({ NODE_ENV: 'production', ROLES: 'service' }).config.roles).toEqual(['service']);
  });
});

test('a settings file that is there and cannot be read is a fault, and one with a mark at its beginning is read', () => {
  // A folder in its place cannot be read by anybody, the administrator of this machine included.
  const cwd = folderWith({ 'config/.env/inside': '' });
  expect(faultyNames({}, cwd)).toEqual(['ENV_FILE']);
  expect(faultyNames(SERVING, cwd)).toEqual(['ENV_FILE']);
  expect(faultyNames({ ...SERVING, ROLES: 'receiver' }, cwd)).toEqual([]);
  expect(loadSound({}, folderWith({ 'config/.env': '\uFEFFPORT=9001\r\n' })).config.http.port).toBe(9001);
});

describe('the service alone', () => {
  test('listens on SERVICE_PORT as on PORT, and never ignores one of two', () => {
    const portOf = (env: Record<string, string>) => loadSound({ ROLES: 'service', ...env }).config.http;
    expect(portOf({ SERVICE_PORT: '9081' })).toMatchObject({ port: 9081, publicUrl: 'http://127.0.0.1:9081' });
    expect(portOf({ PORT: '9080' }).port).toBe(9080);
    expect(portOf({}).port).toBe(8080);
    expect(portOf({ PORT: '9080', SERVICE_PORT: '9080' }).port).toBe(9080);
    expect(faultyNames({ ROLES: 'service', PORT: '9080', SERVICE_PORT: '9081' })).toEqual(['SERVICE_PORT']);
  });

  test('has an address of its own where the settings are those of a bot', () => {
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
