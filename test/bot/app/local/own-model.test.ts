import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { readOwnModel } from '../../../../src/bot/app/local/own-model-file.ts';
import { ownModelControls, withOwnModel } from '../../../../src/bot/app/own-model.ts';
import { tryOwnModel } from '../../../../src/bot/app/try-own-model.ts';
import {
  jsonOf,
  startScriptedChatServer,
  statusOf,
  type ScriptedChatServer,
} from '../../model/scripted-chat-server.ts';
import { loadSound } from '../../config/environments.ts';
import { tries } from '../../../support/tries.ts';

const KEY = 'sk-own-0123456789';
const OK = jsonOf({ choices: [{ message: { content: 'OK' } }] });
let folder = '';
let server: ScriptedChatServer;
beforeAll(async () => {
  server = await startScriptedChatServer();
});
afterAll(() => server.stop());
afterEach(() => {
  server.calls.length = 0;
  if (folder !== '') rmSync(folder, { recursive: true, force: true });
  folder = '';
});

function controls(env: Record<string, string> = {}, restart: () => Promise<void> = async () => undefined) {
  folder = mkdtempSync(join(tmpdir(), 'parley-own-'));
  const { config, secrets } = loadSound({ ...env, DATA_DIR: folder });
  return { config, secrets, ...ownModelControls({ config, restartWorker: restart }) };
}

test('a custom model is tried with its key, stored for its owner only, and then replaces the built-in model', async () => {
  const { useModel, model, useBuiltInModel, config, secrets } = controls();
  server.script(statusOf(401), OK);
  expect(await useModel({ address: server.baseUrl, apiKey: KEY })).toEqual({ code: 'key', detail: '401' });
  expect(model()).toEqual({ kind: 'built-in' });
  expect(await useModel({ address: server.baseUrl, apiKey: KEY })).toBeUndefined();
  expect(server.calls.map(({ authorization }) => authorization)).toEqual([`Bearer ${KEY}`, `Bearer ${KEY}`]);
  expect(model()).toEqual({ kind: 'own', host: new URL(server.baseUrl).host, model: 'svc-plus' });
  expect(statSync(join(folder, 'own-model.json')).mode & 0o777).toBe(0o600);
  expect(withOwnModel(config, secrets)).toMatchObject({
    config: { chat: { baseUrl: server.baseUrl, model: 'svc-plus', models: ['svc-plus', 'svc-max'] } },
    secrets: { chatApiKey: KEY },
  });
  server.script(OK);
  expect(await useModel({ address: server.baseUrl, apiKey: KEY, model: 'svc-max' })).toBeUndefined();
  expect(withOwnModel(config, secrets).config.chat.models).toEqual(['svc-max']);
  await useBuiltInModel();
  expect(withOwnModel(config, secrets)).toEqual({ config, secrets });
});

test('a custom model with which the worker does not start is replaced by the previous model', async () => {
  const { useModel, model } = controls({}, () => Promise.reject(new Error('no')));
  server.script(OK);
  expect(await useModel({ address: server.baseUrl, apiKey: KEY })).toEqual({ code: 'not_started' });
  expect(model()).toEqual({ kind: 'built-in' });
});

test('a custom model is ignored if CHAT_BASE_URL is set', () => {
  const { config, secrets, model } = controls({
    CHAT_BASE_URL: 'https://chat.example.edu/v1',
    MESSENGER_PROTOCOL: 'wecom',
  });
  const own = { baseUrl: server.baseUrl, apiKey: KEY, model: 'other' };
  writeFileSync(join(folder, 'own-model.json'), JSON.stringify(own));
  expect(withOwnModel(config, secrets)).toEqual({ config, secrets });
  expect(model()).toMatchObject({ kind: 'settings', host: 'chat.example.edu' });
});

test.each([
  ['no address at all', 'chat.example.edu', 'address'],
  ['another scheme', 'file:///etc/passwd', 'address'],
  ['a password in it', 'https://me:word@chat.example.edu/v1', 'address'],
  ['a key that would travel readable', 'http://0.0.0.0:1/v1', 'insecure'],
])('does not call an address with %s', async (_name, address, code) => {
  expect(await tryOwnModel({ address, apiKey: KEY })).toEqual({ fault: { code } });
});

test('returns a fault code and none of the service’s text', async () => {
  const ask = (model?: string) => tryOwnModel({ address: server.baseUrl, apiKey: KEY, ...(model ? { model } : {}) });
  const answers = [
    [statusOf(403), 'key'],
    [statusOf(404), 'not_found'],
    [statusOf(429), 'busy'],
    [statusOf(500, {}, 'a secret stack'), 'refused'],
    [statusOf(302, { location: 'http://127.0.0.1:1/' }), 'refused'],
    [jsonOf({ hello: 'world' }), 'no_answer'],
  ] as const;
  for (const [answer, code] of answers) {
    server.script(answer);
    const tried = await ask('named');
    expect(tried).toMatchObject({ fault: { code } });
    expect(JSON.stringify(tried)).not.toContain('secret');
  }
  expect(await tryOwnModel({ address: 'http://127.0.0.1:1/v1', apiKey: KEY })).toEqual({
    fault: { code: 'unreachable', detail: 'ECONNREFUSED' },
  });
  expect(await tryOwnModel({ address: server.baseUrl, apiKey: 'two\nlines' })).toEqual({ fault: { code: 'key_form' } });
});

test('accepts the address with /chat/completions, without /v1 and with a trailing slash', async () => {
  server.script(OK);
  const root = server.baseUrl.replace(/\/v1$/, '');
  for (const address of [`${root}/v1/`, root, `${root}/v1/chat/completions`, ` ${root}/ `]) {
    expect(await tryOwnModel({ address, apiKey: '' })).toMatchObject({ own: { baseUrl: server.baseUrl } });
  }
});

test('falls back to the built-in model if the file is unreadable or invalid', () => {
  controls();
  const path = join(folder, 'own-model.json');
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
      writeFileSync(path, text);
      expect(readOwnModel(folder)).toBeUndefined();
    }),
    { numRuns: tries(50) },
  );
});
