import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { got } from 'got';
import { freePort } from '../../src/bot/app/local/embedded-redis.ts';
import { Deferred } from '../../src/shared/deferred.ts';
import { helloStream, startScriptedChatServer, type ScriptedChatServer } from '../bot/model/scripted-chat-server.ts';
import { startParleyProcess, type ParleyProcess } from '../support/parley-process.ts';
import { startDeployment, untilTrue, type Deployment } from '../support/deployment.ts';

const folder = mkdtempSync(join(tmpdir(), 'parley-reread-'));
const file = (name: string) => join(folder, name);
const running: ParleyProcess[] = [];
let chat: ScriptedChatServer;
let deployment: Deployment;

beforeAll(async () => {
  for (const name of ['policy.json', 'tools.json', 'models.json', 'system-prompt.md'])
    cpSync(join('defaults', name), file(name));
  chat = await startScriptedChatServer();
  deployment = await startDeployment({
    startsBot: false,
    env: {
      ...{ SIGN_IN: 'off', CHAT_BASE_URL: chat.baseUrl, POLICY_FILE: file('policy.json') },
      ...{ TOOLS_FILE: file('tools.json'), MODELS_FILE: file('models.json') },
      CHAT_SYSTEM_PROMPT_FILE: file('system-prompt.md'),
    },
  });
}, 60_000);
afterAll(async () => {
  for (const parley of running) parley.kill('SIGKILL');
  await Promise.all(running.map(({ ended }) => ended));
  await deployment.stop();
  await chat.stop();
  rmSync(folder, { recursive: true });
});

async function start(env: Record<string, string>, cwd?: string): Promise<ParleyProcess> {
  const command = ['node', resolve('dist/main.js')];
  const parley = await startParleyProcess({ env, command, cwd, until: /is running|has started/ });
  running.push(parley);
  return parley;
}

const heard = (parley: ParleyProcess, words: string) => untilTrue(async () => parley.output().includes(words));
const promptOf = (call: number) => JSON.stringify(chat.calls[call]?.body['messages']);

async function answerTo(said: string): Promise<string> {
  const message = await deployment.messenger.driver.send('zhangwei', said);
  return (await deployment.messenger.driver.waitForAnswer(message.id, { timeoutMs: 20_000 })).text;
}

/** The status of the files on disk in `/readyz` and in the metric. */
async function saidOfFiles(port: string): Promise<{ status: number; files: string | undefined; faults: number }> {
  const ready = await got(`http://127.0.0.1:${port}/readyz`, { throwHttpErrors: false, retry: { limit: 0 } });
  const { parts } = JSON.parse(ready.body) as { parts: Record<string, string> };
  const metrics = await got(`http://127.0.0.1:${port}/metrics`).text();
  const faults = Number(/^parley_config_files_rejected_faults (\d+)$/m.exec(metrics)?.[1]);
  return { status: ready.statusCode, files: parts['files'], faults };
}

test('a worker rereads its files on SIGHUP, while a running answer keeps the old ones', async () => {
  const parley = await start({ ...deployment.env, CHAT_MODELS: 'svc-plus,svc-max' });
  await untilTrue(() => deployment.messenger.driver.isBotReachable());
  writeFileSync(file('system-prompt.md'), 'First prompt.');
  parley.kill('SIGHUP');
  await heard(parley, 'the files were reloaded');

  // The first model call fails, and is repeated after the change.
  const isAsked = new Deferred();
  const mayFail = new Deferred();
  chat.script(async (response) => {
    isAsked.resolve();
    await mayFail.promise;
    response.writeHead(503).end();
  }, helloStream('Hello.'));
  const first = answerTo('One question');
  await isAsked.promise;
  writeFileSync(file('system-prompt.md'), 'Second prompt.');
  writeFileSync(
    file('models.json'),
    JSON.stringify([{ name: 'svc-plus', upstream: 'another-name' }, { name: 'svc-max' }]),
  );
  parley.kill('SIGHUP');
  await untilTrue(async () => parley.output().split('the files were reloaded').length === 3);
  mayFail.resolve();
  expect(await first).toContain('Hello.');
  expect(promptOf(0)).toContain('First prompt.');
  expect(promptOf(1)).toContain('First prompt.');
  expect(chat.calls[1]?.body['model']).toBe('svc-plus');
  await answerTo('Another question');
  expect(promptOf(2)).toContain('Second prompt.');
  expect(chat.calls[2]?.body['model']).toBe('another-name');

  // Both faults are named, and the valid third file is not applied either.
  writeFileSync(file('system-prompt.md'), 'Third prompt.');
  writeFileSync(file('policy.json'), '{"rules": 5}');
  writeFileSync(file('tools.json'), 'nothing');
  parley.kill('SIGHUP');
  await heard(parley, 'the files were not reloaded');
  const said =
    parley
      .output()
      .split('\n')
      .find((line) => line.includes('not reloaded')) ?? '';
  const { faults } = JSON.parse(said) as { faults: string[] };
  expect(faults.map((fault) => fault.split(' ')[0])).toEqual(expect.arrayContaining(['POLICY_FILE', 'TOOLS_FILE']));
  expect(await answerTo('A third question')).toContain('Hello.');
  expect(promptOf(3)).toContain('Second prompt.');
  const port = deployment.env['PORT'] ?? '';
  const degraded = { status: 200, files: expect.stringMatching(/^degraded: /) };
  expect(await saidOfFiles(port)).toEqual({ ...degraded, faults: faults.length });
  cpSync(join('defaults', 'policy.json'), file('policy.json'));
  cpSync(join('defaults', 'tools.json'), file('tools.json'));
  parley.kill('SIGHUP');
  await untilTrue(async () => parley.output().split('the files were reloaded').length === 4);
  expect(await saidOfFiles(port)).toEqual({ status: 200, files: 'ready', faults: 0 });
}, 90_000);

test('a file of the operator that did not exist at the start applies after SIGHUP, and the shipped one after its removal, unless that allows more [checked-at-start]', async () => {
  for (const parley of running.splice(0)) {
    parley.kill('SIGKILL');
    await parley.ended;
  }
  const cwd = join(folder, 'elsewhere');
  mkdirSync(join(cwd, 'config'), { recursive: true });
  const names = ['POLICY_FILE', 'TOOLS_FILE', 'MODELS_FILE', 'CHAT_SYSTEM_PROMPT_FILE'];
  const env = Object.fromEntries(Object.entries(deployment.env).filter(([name]) => !names.includes(name)));
  const parley = await start(env, cwd);
  await untilTrue(() => deployment.messenger.driver.isBotReachable());
  const reloads = (count: number) =>
    untilTrue(async () => parley.output().split('the files were reloaded').length === count + 1);
  const promptFor = async (said: string) => {
    chat.script(helloStream('Hello.'));
    await answerTo(said);
    return promptOf(chat.calls.length - 1);
  };
  expect(await promptFor('With the shipped prompt')).toContain('You are Parley');
  writeFileSync(join(cwd, 'config/system-prompt.md'), 'Prompt of the operator.');
  parley.kill('SIGHUP');
  await reloads(1);
  expect(await promptFor('With their own prompt')).toContain('Prompt of the operator.');
  // A file that is there but cannot be read is never replaced.
  rmSync(join(cwd, 'config/system-prompt.md'));
  symlinkSync('nowhere', join(cwd, 'config/policy.json'));
  parley.kill('SIGHUP');
  await heard(parley, 'the files were not reloaded');
  expect(parley.output()).toMatch(/POLICY_FILE names \S+, which cannot be read \(ENOENT\)/);
  rmSync(join(cwd, 'config/policy.json'));
  parley.kill('SIGHUP');
  await reloads(2);
  expect(await promptFor('With the shipped prompt again')).toContain('You are Parley');

  // A policy that was in force is not replaced by the shipped one, which allows everyone.
  const policy = join(cwd, 'config/policy.json');
  writeFileSync(policy, JSON.stringify({ rules: [], otherwise: { use: false } }));
  parley.kill('SIGHUP');
  await reloads(3);
  const calls = chat.calls.length;
  expect(await answerTo('With a policy that allows no one')).toContain('does not have access');
  rmSync(policy);
  parley.kill('SIGHUP');
  await heard(parley, 'does not exist any more: restore the file');
  expect(await answerTo('Without that policy')).toContain('does not have access');
  expect(chat.calls).toHaveLength(calls);
  cpSync(join('defaults', 'policy.json'), policy);
  parley.kill('SIGHUP');
  await reloads(4);
  expect(await promptFor('With an open policy')).toContain('You are Parley');
}, 60_000);

test('the service applies an added client on SIGHUP, and keeps the old clients if their file has a fault', async () => {
  const clients = file('clients.json');
  const client = (id: string) => ({
    client_id: id,
    client_secret: 's',
    name: 'n',
    redirect_uris: ['https://a.example/'],
  });
  const PORT = String(await freePort());
  writeFileSync(clients, JSON.stringify([client('one')]));
  const service = await start({
    ...{ ROLES: 'service', PORT, HOST: '127.0.0.1', DATA_DIR: join(folder, 'data'), SERVICE_API_KEYS: 'sk-1' },
    SERVICE_CLIENTS_FILE: clients,
  });
  const statusFor = async (id: string) => {
    const asked = new URLSearchParams({
      client_id: id,
      redirect_uri: 'https://a.example/',
      response_type: 'code',
      state: 's',
    });
    const answer = await got(`http://127.0.0.1:${PORT}/oauth2.0/authorize?${asked.toString()}`, {
      throwHttpErrors: false,
      followRedirect: false,
      retry: { limit: 0 },
    });
    return answer.statusCode < 400;
  };
  expect([await statusFor('one'), await statusFor('two')]).toEqual([true, false]);
  writeFileSync(clients, JSON.stringify([client('one'), client('two')]));
  service.kill('SIGHUP');
  await heard(service, 'the files were reloaded');
  expect([await statusFor('one'), await statusFor('two')]).toEqual([true, true]);
  writeFileSync(clients, '[');
  service.kill('SIGHUP');
  await heard(service, 'the files were not reloaded');
  expect([await statusFor('one'), await statusFor('two')]).toEqual([true, true]);
  expect(await saidOfFiles(PORT)).toEqual({ status: 200, files: expect.stringMatching(/^degraded: /), faults: 1 });
}, 60_000);

test('a receiver has no files to reread and survives SIGHUP', async () => {
  const receiver = await start({ ...deployment.env, ROLES: 'receiver', PORT: String(await freePort()) });
  receiver.kill('SIGHUP');
  await heard(receiver, 'the files were reloaded');
}, 60_000);
