import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import {
  helloStream,
  jsonOf,
  startScriptedChatServer,
  statusOf,
  type ScriptedChatServer,
} from '../bot/model/scripted-chat-server.ts';
import { ListedModels } from '../../src/bot/app/listed-models.ts';
import { loadSettings } from '../../src/bot/config/load-settings.ts';
import { PLATFORMS } from '../support/both-platforms.ts';
import { startDeployment, untilTrue, type Deployment } from '../support/deployment.ts';

const OFFERED = ['zeta-chat', 'text-embedding-3-small', 'bge-m3', 'alpha-chat', 'whisper-1'];

describe.each(PLATFORMS)('a deployment on %s without CHAT_MODELS', (platform) => {
  let deployment: Deployment;
  let chat: ScriptedChatServer;
  let offered: string[] | 'away' | 'no list';

  beforeAll(async () => {
    chat = await startScriptedChatServer(false);
    const env = { SIGN_IN: 'off', CHAT_BASE_URL: chat.baseUrl };
    deployment = await startDeployment({ protocol: platform, startsBot: false, env });
  }, 60_000);
  afterAll(async () => {
    await deployment.stop();
    await chat.stop();
  });
  beforeEach(() => {
    offered = OFFERED;
    chat.calls.splice(0);
    chat.script((response, call) => {
      if (offered === 'away') return statusOf(503)(response, call);
      if (!call.path.endsWith('/models')) return helloStream('Here I am.')(response, call);
      if (offered === 'no list') return statusOf(404)(response, call);
      return jsonOf({ data: offered.map((id) => ({ id })) })(response, call);
    });
  });
  afterEach(() => deployment.stopBot());

  async function ask(text: string): Promise<string> {
    const { driver } = deployment.messenger;
    return (await driver.waitForAnswer((await driver.send('zhangwei', { text })).id)).text;
  }
  // Slack keeps messages with a slash for itself.
  const MODEL = platform === 'slack' ? 'model' : '/model';
  const asked = () => chat.calls.flatMap(({ body }) => body['model'] ?? []);

  test('offers the chat models that the chat service lists, by name, and asks the first', async () => {
    await deployment.startBot();
    expect(await ask('are you there?')).toBe('Here I am.');
    const list = await ask(MODEL);
    expect(list).toMatch(/alpha-chat[^]*zeta-chat/);
    expect(list).not.toMatch(/embedding|bge|whisper|svc-/);
    await ask(`${MODEL} zeta-chat`);
    await ask('are you still there?');
    await ask(`${MODEL} auto`);
    expect(asked()).toEqual(['alpha-chat', 'zeta-chat']);
  });

  test('asks CHAT_MODEL if it is set', async () => {
    await deployment.startBot({ CHAT_MODEL: 'zeta-chat' });
    expect(await ask('are you there?')).toBe('Here I am.');
    expect(asked()).toEqual(['zeta-chat']);
  });

  test('holds questions while the chat service is away at the start, and answers them once it lists its models', async () => {
    offered = 'away';
    await deployment.startBot();
    const answer = ask('are you there?');
    await untilTrue(() => chat.calls.length > 2);
    offered = OFFERED;
    expect(await answer).toBe('Here I am.');
    expect(asked()).toEqual(['alpha-chat']);
  });

  test('asks the models of the embedded service if the chat service has no list', async () => {
    offered = 'no list';
    await deployment.startBot();
    expect(await ask('are you there?')).toBe('Here I am.');
    expect(asked()).toEqual(['svc-plus']);
  });

  test('hands the list over to a process that it starts', async () => {
    const settings = loadSettings({ env: deployment.env, cwd: process.cwd() });
    if (!settings.ok) throw new Error('faulty settings');
    const { config, secrets } = settings;
    const parent = new ListedModels({ config, secrets, log: undefined });
    await parent.settled;
    const child = new ListedModels({ config: parent.configForChild, secrets, log: undefined });
    await child.settled;
    expect(child.config.chat.models).toEqual(['alpha-chat', 'zeta-chat']);
    expect(chat.calls).toHaveLength(1);
    parent.close();
    child.close();
  });

  test('knows added models after the files are read again', async () => {
    const app = await deployment.startBot();
    await ask('are you there?');
    offered = [...OFFERED, 'aaa-chat'];
    await app.reread();
    expect(await ask(MODEL)).toMatch(/aaa-chat[^]*alpha-chat/);
  });

  test.each<[what: string, env: Record<string, string>, sent: unknown[]]>([
    ['to the engine', {}, ['physics', 'key sk-model-header-0123']],
    ['not to a service in front of the engine', { SERVICE_UPSTREAM_URL: 'http://127.0.0.1:9/v1' }, []],
  ])('sends the headers of a model %s, and logs no value of them [secrets-stay-inside]', async (_what, env, sent) => {
    const folder = mkdtempSync(join(tmpdir(), 'parley-models-'));
    const [file, secretFile] = [join(folder, 'models.json'), join(folder, 'secret')];
    const headers = { 'X-Tenant': 'physics', 'X-Model-Key': 'key {secret}' };
    writeFileSync(file, JSON.stringify([{ name: 'alpha-chat', headers }]));
    writeFileSync(secretFile, 'sk-model-header-0123\n');
    await deployment.startBot({ MODELS_FILE: file, MODELS_SECRET_FILE: secretFile, ...env });
    await ask('are you there?');
    await ask(`${MODEL} zeta-chat`);
    await ask('are you still there?');
    await ask(`${MODEL} auto`);
    const listing = chat.calls.find(({ path }) => path.endsWith('/models'));
    const [first, second] = chat.calls.filter(({ path }) => !path.endsWith('/models'));
    const [tenant, key] = sent;
    for (const call of [listing, first])
      expect([call?.headers['x-tenant'], call?.headers['x-model-key']]).toEqual([tenant, key]);
    expect(second?.headers['x-tenant']).toBeUndefined();
    expect(deployment.lines.join('')).not.toMatch(/sk-model-header|physics/);
    rmSync(folder, { recursive: true });
  });
});
