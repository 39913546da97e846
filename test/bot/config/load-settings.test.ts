import { describe, expect, test } from '@jest/globals';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { faultyNames, folderWith, load, loadSound, SECRET_KEY, SERVING, without } from './environments.ts';

describe('local mode', () => {
  test('is the default, with everything embedded and on the loopback interface', () => {
    const { config, secrets, warnings } = loadSound({}, '/somewhere');
    expect(config.mode).toBe('local');
    expect(config.roles).toEqual(['receiver', 'worker', 'service', 'messenger']);
    expect(config.embedded).toEqual({ redis: true, chat: true, signIn: true });
    expect(config.http).toMatchObject({ host: '127.0.0.1', port: 8080, publicUrl: 'http://127.0.0.1:8080' });
    expect(config.chat).toMatchObject({ baseUrl: 'http://127.0.0.1:8081/v1', model: 'svc-plus' });
    expect(config.wecom).toMatchObject({ isBotOn: true, apiUrl: 'http://127.0.0.1:8082' });
    expect(config.signIn.proofs).toEqual(['same-browser']);
    expect(config.local.dataDir).toBe('/somewhere/data');
    expect(secrets.redisUrls).toEqual([]);
    expect(warnings).toEqual([]);
  });

  test('stays on if an address replaces one of its parts', () => {
    const { config } = loadSound({ CHAT_BASE_URL: 'http://localhost:9000/v1/', CHAT_API_KEY: 'k', PORT: '9080' });
    expect(config.mode).toBe('local');
    expect(config.embedded).toEqual({ redis: true, chat: false, signIn: true });
    expect(config.chat.baseUrl).toBe('http://localhost:9000/v1');
    expect(config.http.publicUrl).toBe('http://127.0.0.1:9080');
  });

  test('requires client credentials for an external sign-in service', () => {
    expect(faultyNames({ SIGN_IN_URL: 'https://sign-in.example.org' })).toEqual([
      'SIGN_IN_CLIENT_ID',
      'SIGN_IN_CLIENT_SECRET',
    ]);
  });

  test.each(['WECOM_BOT_TOKEN', 'WECOM_CORP_ID', 'ROLES'])('ends as soon as %s is set', (name) => {
    const faulty = faultyNames({ [name]: name === 'ROLES' ? 'worker' : 'abc' });
    expect(faulty).toEqual(expect.arrayContaining(['CHAT_BASE_URL', 'SIGN_IN_URL', 'REDIS_URL', 'SECRET_KEY']));
  });

  test('treats an empty environment variable as unset', () => {
    expect(loadSound({ ROLES: '', WECOM_BOT_TOKEN: ' ', PORT: '' }).config.mode).toBe('local');
  });
});

describe('tracing', () => {
  const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://otel-collector:4318/' };

  test('is off by default, and its headers are kept out of the configuration', () => {
    expect(loadSound({}).config.tracing).toBeUndefined();
    const { config, secrets } = loadSound({
      ...ENDPOINT,
      ...{ OTEL_EXPORTER_OTLP_HEADERS: 'x-key=abc0123', OTEL_TRACES_SAMPLER_ARG: '0.25' },
    });
    expect(config.tracing).toEqual({
      endpoint: 'http://otel-collector:4318',
      serviceName: undefined,
      sampler: undefined,
      samplerShare: '0.25',
    });
    expect(secrets.tracingHeaders).toBe('x-key=abc0123');
    expect(inspect(config, { depth: null })).not.toContain('abc0123');
  });

  test.each([
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'otel-collector:4318'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'http://user:password@otel-collector:4318'],
    ['OTEL_TRACES_SAMPLER', 'sometimes'],
    ['OTEL_TRACES_SAMPLER_ARG', '1.5'],
    ['OTEL_TRACES_SAMPLER_ARG', '10%'],
  ])('refuses %s=%s', (name, value) => {
    expect(faultyNames({ ...ENDPOINT, [name]: value })).toEqual([name]);
  });
});

describe('serving mode', () => {
  test('accepts a complete environment and keeps secrets out of the configuration', () => {
    const { config, secrets, warnings } = loadSound(SERVING);
    expect(config.mode).toBe('serving');
    expect(config.roles).toEqual(['receiver', 'worker']);
    expect(config.http.host).toBe('0.0.0.0');
    expect(config.wecom.app).toEqual({ corpId: 'ww0123456789', agentId: '1000002' });
    expect(secrets.secretKey).toEqual(Buffer.from(SECRET_KEY, 'base64'));
    expect(warnings).toEqual([]);
    const printed = inspect(config, { depth: 10 });
    for (const name of Object.keys(SERVING).filter((each) => /SECRET|KEY|TOKEN|REDIS/.test(each))) {
      expect(printed).not.toContain(SERVING[name]);
    }
  });

  test.each(['CHAT_BASE_URL', 'SIGN_IN_URL', 'REDIS_URL', 'SECRET_KEY'])('is refused without %s', (name) => {
    expect(faultyNames(without(SERVING, name))).toEqual([name]);
  });

  test('needs no sign-in service if sign-in is off', () => {
    const env = { ...without(SERVING, 'SIGN_IN_URL', 'SIGN_IN_CLIENT_ID', 'SIGN_IN_CLIENT_SECRET'), SIGN_IN: 'off' };
    expect(loadSound(env).config.signIn).toMatchObject({ mode: 'off', proofs: [] });
  });

  test('reports all faults at once, each with its setting and its remedy', () => {
    const loaded = load({ ...without(SERVING, 'REDIS_URL'), PORT: 'http', SECRET_KEY: 'short', GROUP_SCOPE: 'all' });
    if (loaded.ok) throw new Error('was accepted');
    expect(loaded.faults.map(({ setting }) => setting).toSorted()).toEqual([
      'GROUP_SCOPE',
      'PORT',
      'REDIS_URL',
      'SECRET_KEY',
    ]);
    expect(loaded.faults.find(({ setting }) => setting === 'SECRET_KEY')?.message).toContain('openssl rand -base64 32');
    expect(JSON.stringify(loaded)).not.toContain('short"');
  });

  test('runs the service alone without a key, Redis or any address', () => {
    const { config } = loadSound({ ROLES: 'service' });
    expect(config).toMatchObject({ mode: 'serving', roles: ['service'], embedded: { redis: true } });
    expect(config.service.directoryFile).toBeUndefined();
  });

  test('rejects the messenger role', () => {
    expect(faultyNames({ ...SERVING, ROLES: 'receiver,worker,messenger' })).toEqual(['ROLES']);
  });

  test('returns frozen settings', () => {
    const { config, secrets } = loadSound(SERVING);
    expect(() => Object.assign(config.http, { port: 1 })).toThrow(TypeError);
    expect(() => Object.assign(config, { mode: 'local' })).toThrow(TypeError);
    expect(() => Object.assign(secrets, { chatApiKey: 'x' })).toThrow(TypeError);
  });
});

describe('sources of values', () => {
  test('the environment overrides config/.env, which overrides the defaults', () => {
    const cwd = folderWith({ 'config/.env': 'PORT=9001\nSERVICE_PORT=9002\n' });
    const { config } = loadSound({ PORT: '9000' }, cwd);
    expect([config.http.port, config.local.servicePort, config.local.messengerPort]).toEqual([9000, 9002, 8082]);
  });

  test('ENV_FILE names another file, which must exist', () => {
    const cwd = folderWith({ 'other.env': 'PORT=9001', 'config/.env': 'PORT=9002' });
    expect(loadSound({ ENV_FILE: 'other.env' }, cwd).config.http.port).toBe(9001);
    const absent = load({ ENV_FILE: 'absent.env' }, cwd);
    expect(!absent.ok && absent.faults.map(({ message }) => message)).toEqual([
      `ENV_FILE names ${join(cwd, 'absent.env')}, which cannot be read (ENOENT): correct the path, or unset it`,
    ]);
  });

  test('a settings file that cannot be read ends the start only if the environment has no settings either', () => {
    // A folder in its place cannot be read by any user, unlike a file without permissions.
    const cwd = folderWith({ 'config/.env/file': '' });
    expect(faultyNames({}, cwd)).toEqual(['ENV_FILE']);
    expect(faultyNames({ ...SERVING, ENV_FILE: 'config/.env' }, cwd)).toEqual(['ENV_FILE']);
    const warning = `${join(cwd, 'config/.env')} cannot be read (EISDIR): only settings in the environment apply`;
    expect(loadSound(SERVING, cwd).warnings).toContain(warning);
    expect(loadSound({ ROLES: 'service' }, cwd).warnings).toContain(warning);
  });

  test('a secret can be read from a separate file', () => {
    const cwd = folderWith({ 'secrets/key': `${SECRET_KEY}\n`, empty: '' });
    const env = without(SERVING, 'SECRET_KEY');
    expect(loadSound({ ...env, SECRET_KEY_FILE: 'secrets/key' }, cwd).secrets.secretKey).toHaveLength(32);
    expect(faultyNames({ ...env, SECRET_KEY_FILE: 'secrets/absent' }, cwd)).toEqual(['SECRET_KEY_FILE']);
    expect(faultyNames({ ...env, SECRET_KEY_FILE: 'empty' }, cwd)).toEqual(['SECRET_KEY_FILE']);
    expect(faultyNames({ ...SERVING, SECRET_KEY_FILE: 'secrets/key' }, cwd)).toEqual(['SECRET_KEY_FILE']);
  });

  test('a value in the environment overrides a _FILE setting in the settings file', () => {
    const cwd = folderWith({ 'config/.env': 'CHAT_API_KEY_FILE=absent' });
    expect(faultyNames(SERVING, cwd)).toEqual(['CHAT_API_KEY_FILE']);
    const other = folderWith({
      'config/.env': `CHAT_API_KEY_FILE=${join('secrets', 'key')}`,
      'secrets/key': 'from file',
    });
    expect(loadSound(SERVING, other).secrets.chatApiKey).toBe('sk-institution');
  });
});
