import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { SettingsFile } from '../../../src/cli/setup/settings-file.ts';
import { TEXTS } from '../../../src/cli/setup/setup-texts.ts';
import type { ListeningServer } from '../../../src/shared/http/http-server.ts';
import { folderWith } from '../../bot/config/environments.ts';
import { startOidcStandIn, type OidcStandIn } from '../../bot/identity/providers/oidc-stand-in.ts';
import { startParleyProcess } from '../../support/parley-process.ts';
import { startTestRedis, type TestRedis } from '../../support/redis.ts';
import { tries } from '../../support/tries.ts';
import { untilTrue } from '../../support/until-true.ts';
import { answering } from '../check/support.ts';

jest.setTimeout(240_000);
const MAIN = resolve('dist/main.js');
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

const plain = { PATH: process.env['PATH'] ?? '', HOME: '/nonexistent', TERM: 'xterm' };
const running: { kill(signal: NodeJS.Signals): unknown }[] = [];
afterEach(() => {
  for (const child of running.splice(0)) child.kill('SIGKILL');
});

/** Types into `parley setup`: each answer once its question is shown. */
async function type(cwd: string, answers: readonly (readonly [question: string, keys: string])[], env = {}) {
  const child = spawn('node', [MAIN, 'setup'], { cwd, env: { ...plain, ...env } });
  running.push(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (text: Buffer) => void (output += text.toString()));
  let from = 0;
  for (const [question, keys] of answers) {
    await untilTrue(() => output.includes(question, from) || child.exitCode !== null, 120_000);
    from = output.length;
    child.stdin.write(keys);
  }
  const ended = child.exitCode === null ? await once(child, 'exit') : [child.exitCode];
  return { exitCode: Number(ended[0]), output };
}

const ENTER = '\r';
const DOWN = '\u001b[B';
const CTRL_C = '\u0003';
const en = (name: keyof typeof TEXTS) => TEXTS[name].en;

/** From an empty folder to an own engine and an own OpenID Connect provider. */
const toOwn = () =>
  [
    [en('platform'), ENTER],
    [en('CHAT_BASE_URL'), `${engine.url}/v1${ENTER}`],
    [en('CHAT_API_KEY'), KEY + ENTER],
    [en('CHAT_MODELS'), DOWN + ' ' + ENTER],
    [en('signIn'), ENTER],
    [en('SIGN_IN_URL'), provider.url + ENTER],
    [en('SIGN_IN_CLIENT_ID'), provider.clientId + ENTER],
    [en('SIGN_IN_CLIENT_SECRET'), provider.clientSecret + ENTER],
  ] as const;

async function check(cwd: string): Promise<string> {
  const parley = await startParleyProcess({ cwd, env: {}, command: ['node', MAIN, 'check'] });
  expect(await parley.ended).toBe(0);
  return parley.output();
}

describe('parley setup', () => {
  test('leads from an empty folder to an own engine and an own OpenID Connect provider in at most 10 questions', async () => {
    const cwd = folderWith();
    const answers = toOwn();
    expect(answers.length).toBeLessThanOrEqual(10);
    const { exitCode, output } = await type(cwd, answers);
    expect([exitCode, output]).toEqual([0, expect.stringContaining('parley check')]);
    const path = join(cwd, 'config/.env');
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readFileSync(path, 'utf8')).toMatch(/^CHAT_MODELS=campus-one,campus-two$/m);
    for (const secret of [KEY, provider.clientSecret]) expect(output).not.toContain(secret);
    expect(await check(cwd)).not.toMatch(/^fault/m);
  });

  test('reports a wrong answer at once, asks again, and resumes after Ctrl+C with the answers so far', async () => {
    const cwd = folderWith();
    const [first, address, key, models] = toOwn();
    const began = await type(cwd, [
      first,
      [address[0], `http://127.0.0.1:9/v1${ENTER}`],
      // The reply to the failed trial: enter it again. The field holds the former address.
      [en('wrong'), ENTER],
      [address[0], `\u0015${address[1]}`],
      key,
      models,
      [en('signIn'), CTRL_C],
    ]);
    expect([began.exitCode, began.output]).toEqual([1, expect.stringContaining('Run setup again')]);
    expect(began.output).toMatch(/fault .*cannot be reached \(ECONNREFUSED\)/);
    const resumed = await type(cwd, [[en('resumeMissing'), ENTER], ...toOwn().slice(4)]);
    expect(resumed.exitCode).toBe(0);
    expect(resumed.output).not.toContain(en('CHAT_BASE_URL'));
  });

  test('keeps a stored value unless another one is entered, and speaks Chinese by LANG', async () => {
    const cwd = folderWith({
      'config/.env': `# mine\nCHAT_BASE_URL=${engine.url}/v1\nCHAT_API_KEY=${KEY}\nLOG_LEVEL=warn\n`,
    });
    const zh = (name: keyof typeof TEXTS) => TEXTS[name].zh;
    const { exitCode, output } = await type(
      cwd,
      [
        [zh('resumeAll'), DOWN + ENTER],
        [zh('platform'), ENTER],
        [zh('CHAT_BASE_URL'), ENTER],
        [zh('CHAT_API_KEY'), ENTER],
        [zh('CHAT_MODELS'), ENTER],
        // The built-in accounts.
        [zh('signIn'), DOWN + DOWN + DOWN + ENTER],
      ],
      { LANG: 'zh_CN.UTF-8' },
    );
    expect([exitCode, output]).toEqual([0, expect.stringContaining('配置已保存')]);
    expect(readFileSync(join(cwd, 'config/.env'), 'utf8')).toMatch(
      new RegExp(`^# mine\nCHAT_BASE_URL=${engine.url}/v1\nCHAT_API_KEY=${KEY}\nLOG_LEVEL=warn\n`),
    );
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
    expect(readFileSync(join(cwd, 'config/.env'), 'utf8')).toMatch(/^SECRET_KEY=[\w+/]{43}=$/m);
    for (const secret of ['xapp-1-setup', 'xoxb-1-setup']) expect(output).not.toContain(secret);
  });

  test('names what is missing, refuses to replace a value, and fails for a wrong answer', async () => {
    const cwd = folderWith();
    expect(await run(cwd, { CHAT_API_KEY: KEY })).toEqual({
      exitCode: 2,
      output: expect.stringMatching(/set CHAT_BASE_URL, CHAT_MODELS/),
    });
    expect(existsSync(join(cwd, 'config/.env'))).toBe(false);
    expect(await run(cwd, { ...answers(), SIGN_IN_CLIENT_ID: '' })).toMatchObject({ exitCode: 2 });
    const away = { ...answers(), CHAT_BASE_URL: 'http://127.0.0.1:9/v1' };
    expect(await run(cwd, away)).toMatchObject({ exitCode: 1, output: expect.stringMatching(/fault .*ECONNREFUSED/) });
    const refused = await run(cwd, answers());
    expect(refused).toEqual({ exitCode: 1, output: expect.stringMatching(/another value of CHAT_BASE_URL/) });
  });
});

describe('the settings file', () => {
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
