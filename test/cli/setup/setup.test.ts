import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
import { existsSync, lstatSync, mkdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { readLine } from '../../../src/cli/setup/read-line.ts';
import { SettingsFile } from '../../../src/cli/setup/settings-file.ts';
import type { ListeningServer } from '../../../src/shared/http/http-server.ts';
import { folderWith } from '../../bot/config/environments.ts';
import { startCasStandIn } from '../../bot/identity/providers/cas-stand-in.ts';
import { startOidcStandIn, type OidcStandIn } from '../../bot/identity/providers/oidc-stand-in.ts';
import { startParleyProcess } from '../../support/parley-process.ts';
import { startTestRedis, type TestRedis } from '../../support/redis.ts';
import { tries } from '../../support/tries.ts';
import { CTRL_C, DOWN, ENTER, MAIN, endSetups, questions, typeSetup as type } from '../../support/typed-setup.ts';
import { answering } from '../check/support.ts';

jest.setTimeout(240_000);
const KEY = 'sk-setup-0123456789';
let engine: ListeningServer;
let provider: OidcStandIn;
let redis: TestRedis;
beforeAll(async () => {
  engine = await answering({
    '/v1/models': [200, { data: [{ id: 'campus-one' }, { id: 'campus-two' }] }],
    '/v1/chat/completions': [200, { choices: [{ message: { content: 'OK' } }] }],
    '/api/auth.test': [200, { ok: true, team: 'Campus', team_id: 'T1', user: 'parley' }],
    '/api/apps.connections.open': [200, { ok: true, url: 'wss://slack.test/' }],
  });
  provider = await startOidcStandIn();
  redis = await startTestRedis();
});
afterAll(async () => {
  await engine.close();
  await provider.close();
  await redis.stop();
});

afterEach(endSetups);
const en = questions('en');

/** From an empty folder to an own engine and an own OpenID Connect provider. */
const toOwn = () =>
  [
    [en('MESSENGER_PROTOCOL'), ENTER],
    [en('CHAT_BASE_URL'), `${engine.url}/v1${ENTER}`],
    [en('CHAT_API_KEY'), KEY + ENTER],
    [en('SIGN_IN_URL'), provider.url + ENTER],
    [en('SIGN_IN_CLIENT_ID'), `${provider.clientId} ${provider.clientSecret}${ENTER}`],
  ] as const;
const FINISH = [en('summary'), ENTER] as const;

async function check(cwd: string): Promise<string> {
  const parley = await startParleyProcess({ cwd, env: {}, command: ['node', MAIN, 'check'] });
  expect(await parley.ended).toBe(0);
  return parley.output();
}

describe('parley setup', () => {
  test('leads from an empty folder to an own engine and an own OpenID Connect provider in at most 10 questions', async () => {
    const cwd = folderWith();
    const answers = [...toOwn(), FINISH];
    expect(answers.length).toBeLessThanOrEqual(10);
    const { exitCode, output } = await type(cwd, answers);
    expect([exitCode, output]).toEqual([0, expect.stringContaining('parley check')]);
    expect(output).toContain('campus-one, campus-two (all that the service lists)');
    // Needed before the provider issues the client id, which is asked for next.
    const [beforeClient = ''] = output.split(en('SIGN_IN_CLIENT_ID'));
    expect(beforeClient.replaceAll(/[\s│]+/g, ' ')).toMatch(/with the redirect address http:\S+\/oauth\/callback/);
    const path = join(cwd, 'config/.env');
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readFileSync(path, 'utf8')).toMatch(/^SIGN_IN_TYPE=oidc$/m);
    for (const secret of [KEY, provider.clientSecret]) expect(output).not.toContain(secret);
    expect(await check(cwd)).not.toMatch(/^fault/m);
  });

  test('reports a wrong answer at once, asks again, and resumes after Ctrl+C with the answers so far', async () => {
    const cwd = folderWith();
    const [first, address, key] = toOwn();
    const began = await type(cwd, [
      first,
      [address[0], `http://127.0.0.1:9/v1${ENTER}`],
      // The reply to the failed trial: enter it again. The field holds the former address.
      [en('wrong'), ENTER],
      [address[0], `\u0015${address[1]}`],
      key,
      [en('SIGN_IN_URL'), CTRL_C],
    ]);
    expect([began.exitCode, began.output]).toEqual([1, expect.stringContaining('Run setup again')]);
    expect(began.output).toMatch(/fault .*cannot be reached \(ECONNREFUSED\)/);
    // Values that are missing in a line are asked for alone.
    const [, , , url] = toOwn();
    const resumed = await type(cwd, [
      [en('resumeMissing'), ENTER],
      url,
      [en('SIGN_IN_CLIENT_ID'), provider.clientId + ENTER],
      [en('SIGN_IN_CLIENT_SECRET'), provider.clientSecret + ENTER],
      FINISH,
    ]);
    expect(resumed.exitCode).toBe(0);
    expect(resumed.output.split(en('summary'))[0]).not.toContain(`◆  ${en('CHAT_BASE_URL')}`);
  });

  test('reports a refused key before it asks for models', async () => {
    const strict = await answering({ '/v1/models': [401, {}] });
    const [first, address, key] = toOwn();
    const answers = [first, [address[0], `${strict.url}/v1${ENTER}`], key, [en('wrong'), CTRL_C]] as const;
    const { output } = await type(folderWith(), answers);
    await strict.close();
    expect(output).toMatch(/fault .*answers 401 → Set CHAT_API_KEY to a valid key/);
    expect(output).not.toContain(en('CHAT_MODELS'));
  });

  test('shows addresses of Redis in the summary without their passwords', async () => {
    const settings = {
      ...{ SLACK_CONNECT: 'socket', SLACK_APP_TOKEN: 'xapp-1', SLACK_BOT_TOKEN: 'xoxb-1', SLACK_CLIENT_ID: '1.2' },
      ...{
        SLACK_CLIENT_SECRET: 'client-word',
        REDIS_URL: 'redis://:p@word-one@one.test:1,redis://me:word-two@two.test:2',
      },
      ...{ PUBLIC_URL: 'http://127.0.0.1:1', CHAT_BASE_URL: `${engine.url}/v1`, CHAT_API_KEY: KEY },
      ...{ CHAT_MODELS: 'campus-one', SIGN_IN: 'off', WECOM_BOT_NAME: 'Parley' },
    };
    const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`);
    const { output } = await type(folderWith({ 'config/.env': lines.join('') }), [
      [en('resumeMissing'), ENTER],
      [en('SIGN_IN_URL'), ENTER],
      [en('summary'), CTRL_C],
    ]);
    expect(output).toContain('redis://…@one.test:1,redis://…@two.test:2');
    expect(output).not.toMatch(/word-one|word-two|client-word/);
  });

  test('changes an answer in the summary, and lists the models of the engine for that', async () => {
    const cwd = folderWith();
    const { exitCode } = await type(cwd, [
      ...toOwn(),
      [en('summary'), DOWN.repeat(4) + ENTER],
      // All are selected: the first is deselected.
      [en('CHAT_MODELS'), ' ' + ENTER],
      FINISH,
    ]);
    expect(exitCode).toBe(0);
    expect(readFileSync(join(cwd, 'config/.env'), 'utf8')).toMatch(/^CHAT_MODELS=campus-two$/m);
  });

  test('keeps a stored value unless another one is entered, and speaks Chinese by LANG', async () => {
    const cwd = folderWith({
      'config/.env': `# mine\nCHAT_BASE_URL=${engine.url}/v1\nCHAT_API_KEY=${KEY}\nLOG_LEVEL=warn\n`,
    });
    const zh = questions('zh');
    const { exitCode, output } = await type(
      cwd,
      [
        [zh('resumeAll'), DOWN + ENTER],
        [zh('MESSENGER_PROTOCOL'), ENTER],
        [zh('CHAT_BASE_URL'), ENTER],
        [zh('CHAT_API_KEY'), ENTER],
        [zh('SIGN_IN_URL'), ENTER],
        // The built-in accounts.
        [zh('SIGN_IN'), ENTER],
        [zh('summary'), ENTER],
      ],
      { LANG: 'zh_CN.UTF-8' },
    );
    expect([exitCode, output]).toEqual([0, expect.stringContaining('配置已保存')]);
    expect(readFileSync(join(cwd, 'config/.env'), 'utf8')).toMatch(
      new RegExp(`^# mine\nCHAT_BASE_URL=${engine.url}/v1\nCHAT_API_KEY=${KEY}\nLOG_LEVEL=warn\n`),
    );
  });
});

describe('the line of several values', () => {
  test('recognises values by their form, others by their order, and leaves the rest to the next question', () => {
    const slack = ['SLACK_SIGNING_SECRET', 'SLACK_BOT_TOKEN'];
    expect(readLine('xoxb-1  0abc 12.34 0def', slack, true)).toEqual({
      values: { SLACK_SIGNING_SECRET: '0abc', SLACK_BOT_TOKEN: 'xoxb-1' },
      rest: ['12.34', '0def'],
    });
    expect(readLine('1000002 secret ww1', ['WECOM_CORP_ID', 'WECOM_AGENT_ID', 'WECOM_AGENT_SECRET']).values).toEqual({
      ...{ WECOM_CORP_ID: 'ww1', WECOM_AGENT_ID: '1000002', WECOM_AGENT_SECRET: 'secret' },
    });
    const client = ['SIGN_IN_CLIENT_ID', 'SIGN_IN_CLIENT_SECRET'];
    expect(readLine('parley a b', client).values['SIGN_IN_CLIENT_SECRET']).toBe('a b');
    expect(readLine('parley', client).values).toEqual({ SIGN_IN_CLIENT_ID: 'parley' });
  });
});

describe('parley setup --yes', () => {
  const run = async (cwd: string, env: Record<string, string>) => {
    const parley = await startParleyProcess({ cwd, env, command: ['node', MAIN, 'setup', '--yes'] });
    return { exitCode: await parley.ended, output: parley.output() };
  };
  const answers = () => ({
    ...{ CHAT_BASE_URL: `${engine.url}/v1`, CHAT_API_KEY: KEY, CHAT_MODELS: 'campus-one' },
    ...{ SIGN_IN_TYPE: 'oidc', SIGN_IN_URL: provider.url, SIGN_IN_CLIENT_ID: provider.clientId },
    SIGN_IN_CLIENT_SECRET: provider.clientSecret,
  });

  test('takes the answers from the environment and tries them; check then finds no fault', async () => {
    const cwd = folderWith();
    const { exitCode, output } = await run(cwd, answers());
    expect([exitCode, output]).toEqual([0, expect.stringMatching(/ok .*campus-one answered/)]);
    expect(output.match(/is an OpenID Connect provider →/g)).toHaveLength(1);
    expect(await check(cwd)).not.toMatch(/^fault/m);
    expect(await run(cwd, answers())).toMatchObject({ exitCode: 0 });
  });

  test('sets up Slack over a socket with its own key, and tries the tokens and Redis', async () => {
    const cwd = folderWith();
    const slack = {
      ...{ SLACK_APP_TOKEN: 'xapp-1-setup', SLACK_BOT_TOKEN: 'xoxb-1-setup', SLACK_API_URL: `${engine.url}/api/` },
      ...{ REDIS_URL: redis.url, PUBLIC_URL: 'https://parley.example.org', SIGN_IN_PROOF: 'same-id' },
    };
    const { output } = await run(cwd, { ...answers(), ...slack });
    expect(output).toMatch(/ok +Redis +answers/);
    expect(output).toMatch(/ok +Slack bot +parley in Campus/);
    // As at the terminal, an https address means a proxy.
    expect(readFileSync(join(cwd, 'config/.env'), 'utf8')).toMatch(/^TRUSTED_PROXY_HOPS=1$/m);
    expect(readFileSync(join(cwd, 'config/.env'), 'utf8')).toMatch(/^SECRET_KEY=[\w+/]{43}=$/m);
    for (const secret of ['xapp-1-setup', 'xoxb-1-setup']) expect(output).not.toContain(secret);
  });

  test('takes the answers without a sign-in, and leaves secrets in the files that the settings file names', async () => {
    const own = { 'key.txt': Buffer.alloc(32).toString('base64'), 'chat.txt': `${KEY}\n` };
    const cwd = folderWith({ ...own, 'config/.env': 'SECRET_KEY_FILE=key.txt\nCHAT_API_KEY_FILE=chat.txt\n' });
    const slack = {
      ...{ SLACK_APP_TOKEN: 'xapp-1-setup', SLACK_BOT_TOKEN: 'xoxb-1-setup', SLACK_API_URL: `${engine.url}/api/` },
    };
    const others = { REDIS_URL: redis.url, PUBLIC_URL: 'https://parley.example.org', CHAT_MODELS: 'campus-one' };
    const env = { ...slack, ...others, CHAT_BASE_URL: `${engine.url}/v1`, SIGN_IN: 'off' };
    expect((await run(cwd, env)).output).toContain('The settings are stored');
    const text = readFileSync(join(cwd, 'config/.env'), 'utf8');
    expect(text).toMatch(/^SECRET_KEY_FILE=key.txt\nCHAT_API_KEY_FILE=chat.txt\n/);
    expect(text).toMatch(/^SIGN_IN=off$/m);
    expect(text).not.toMatch(/^(SECRET_KEY|CHAT_API_KEY)=/m);
  });

  test('recognises a CAS server, which needs no client', async () => {
    const cas = await startCasStandIn();
    try {
      const cwd = folderWith();
      const { CHAT_BASE_URL, CHAT_API_KEY, CHAT_MODELS } = answers();
      const { output } = await run(cwd, { CHAT_BASE_URL, CHAT_API_KEY, CHAT_MODELS, SIGN_IN_URL: cas.url });
      expect(output).toContain('The settings are stored');
      expect(readFileSync(join(cwd, 'config/.env'), 'utf8')).toMatch(/^SIGN_IN_TYPE=cas$/m);
      expect(await check(cwd)).not.toMatch(/^fault/m);
    } finally {
      await cas.close();
    }
  });

  test('names what is missing, refuses to replace a value, and fails for a wrong answer', async () => {
    const cwd = folderWith();
    expect(await run(cwd, { CHAT_API_KEY: KEY })).toEqual({
      exitCode: 2,
      output: expect.stringMatching(/set CHAT_BASE_URL\n/),
    });
    expect(existsSync(join(cwd, 'config/.env'))).toBe(false);
    expect(await run(cwd, { ...answers(), SIGN_IN_CLIENT_ID: '' })).toMatchObject({ exitCode: 2 });
    const away = { ...answers(), CHAT_BASE_URL: 'http://127.0.0.1:9/v1' };
    expect(await run(cwd, away)).toMatchObject({ exitCode: 1, output: expect.stringMatching(/fault .*ECONNREFUSED/) });
    expect(existsSync(join(cwd, 'config/.env'))).toBe(false);
    const strict = await answering({ '/v1/models': [401, {}] });
    const wrongKey = { ...answers(), CHAT_BASE_URL: `${strict.url}/v1`, CHAT_MODELS: '' };
    const { output } = await run(folderWith(), wrongKey);
    await strict.close();
    expect(output).toMatch(/fault +Chat models +answers 401 → Set CHAT_API_KEY to a valid key/);
    expect(output).toMatch(
      /Nothing was stored\. Correct the values in the environment or in \S+, then run .*again\.\n$/,
    );
    // Nothing of the failed runs is in the way of corrected values.
    expect(await run(cwd, answers())).toMatchObject({ exitCode: 0 });
    const refused = await run(cwd, away);
    expect(refused).toEqual({ exitCode: 1, output: expect.stringMatching(/another value of CHAT_BASE_URL/) });
  });
});

describe('the settings file', () => {
  test('is replaced behind a symbolic link, which stays', () => {
    const cwd = folderWith({ 'own/parley.env': 'LOG_LEVEL=warn\r\nPUBLIC_URL=https://old.example.org\r\n' });
    mkdirSync(join(cwd, 'config'));
    symlinkSync(join(cwd, 'own/parley.env'), join(cwd, 'config/.env'));
    const file = new SettingsFile({}, cwd);
    file.write({ PUBLIC_URL: 'https://parley.example.org' });
    expect(lstatSync(file.path).isSymbolicLink()).toBe(true);
    const written = new SettingsFile({ ENV_FILE: 'own/parley.env' }, cwd).read();
    expect(written).toEqual({ LOG_LEVEL: 'warn', PUBLIC_URL: 'https://parley.example.org' });
  });

  test('reads back every value as written and keeps all other lines, or stays unchanged', () => {
    const name = fc.constantFrom('CHAT_API_KEY', 'SIGN_IN_SCOPE', 'PUBLIC_URL');
    const words = fc.oneof(
      fc.string(),
      fc.string({ unit: fc.constantFrom('a', '#', '"', "'", '`', '\\', ' ', '\n', '=') }),
    );
    const cwd = folderWith({ 'config/.env': '# first\nexport CHAT_API_KEY="old" # note\nLOG_LEVEL=warn\n' });
    const file = new SettingsFile({}, cwd);
    fc.assert(
      fc.property(name, fc.option(words, { nil: undefined }), (setting, value) => {
        const before = readFileSync(file.path, 'utf8');
        try {
          file.write({ [setting]: value });
        } catch {
          expect(readFileSync(file.path, 'utf8')).toBe(before);
          return;
        }
        expect(file.read()[setting]).toBe(value);
        expect(file.read()['LOG_LEVEL']).toBe('warn');
        expect(readFileSync(file.path, 'utf8')).toMatch(/^# first\n/);
      }),
      { numRuns: tries(200) },
    );
  });
});
