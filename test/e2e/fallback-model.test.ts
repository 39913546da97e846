import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { got } from 'got';
import {
  helloStream,
  startScriptedChatServer,
  statusOf,
  type ScriptedChatServer,
} from '../bot/model/scripted-chat-server.ts';
import { PLATFORMS } from '../support/both-platforms.ts';
import { startDeployment, type Deployment } from '../support/deployment.ts';

const ENV = { SIGN_IN: 'off', CHAT_MODELS: 'svc-plus,svc-max', CHAT_FALLBACK_MODEL: 'svc-max' };
/** A red square of one pixel. */
const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC',
  'base64',
);
const folder = mkdtempSync(join(tmpdir(), 'parley-fallback-'));
afterAll(() => rmSync(folder, { recursive: true }));

describe.each(PLATFORMS)('the fallback of an unavailable model on %s', (platform) => {
  let deployment: Deployment;
  let chat: ScriptedChatServer;

  beforeAll(async () => {
    chat = await startScriptedChatServer();
    deployment = await startDeployment({
      protocol: platform,
      slackTiming: { editQuietMs: 200 },
      startsBot: false,
      env: { ...ENV, CHAT_BASE_URL: chat.baseUrl },
    });
  }, 60_000);
  afterAll(async () => {
    await deployment.stop();
    await chat.stop();
  });
  beforeEach(() => {
    chat.calls.splice(0);
    chat.script((response, call) =>
      (call.body['model'] === 'svc-plus' ? statusOf(503) : helloStream('The other one answers.'))(response, call),
    );
  });
  afterEach(() => deployment.stopBot());

  type Said = Parameters<Deployment['messenger']['driver']['send']>[1];
  async function ask(said: Said) {
    const message = await deployment.messenger.driver.send('zhangwei', said);
    return deployment.messenger.driver.waitForAnswer(message.id);
  }
  const asked = () => chat.calls.map(({ body }) => body['model']);

  test('answers the question, is named apart from the text, and is counted [chat-service-fails]', async () => {
    await deployment.startBot();
    const { text, note: apart } = await ask('are you there?');
    expect(text).toBe('The other one answers.');
    expect(apart).toBe('The selected model is unavailable; svc-max answers instead.');
    expect((await ask('你好')).note).toBe('所选模型暂时不可用，由 svc-max 回答。');
    expect(asked()).toEqual(['svc-plus', 'svc-plus', 'svc-max', 'svc-plus', 'svc-plus', 'svc-max']);
    const metrics = await got(`${deployment.botUrl}/metrics`).text();
    expect(metrics).toContain(
      'parley_chat_fallbacks_total{model="svc-plus",fallback="svc-max",code="chat_server_error"} 2',
    );
    expect(deployment.messenger.driver.violations()).toEqual([]);
  });

  test('is not asked about an image if it cannot read images', async () => {
    await deployment.startBot();
    const { text } = await ask({ text: 'what is this?', images: [PIXEL] });
    expect(text).toMatch(/send (?:\/retry|“retry”)/);
    expect(new Set(asked())).toEqual(new Set(['svc-plus']));
  });

  test('is not asked if the policy does not allow it to this person', async () => {
    const may = { use: true, models: ['svc-plus'], private: true, groups: 'all' };
    const policyFile = join(folder, 'policy.json');
    writeFileSync(policyFile, JSON.stringify({ rules: [], otherwise: may }));
    await deployment.startBot({ POLICY_FILE: policyFile });
    expect((await ask('are you there?')).text).toMatch(/send (?:\/retry|“retry”)/);
    expect(new Set(asked())).toEqual(new Set(['svc-plus']));
  });
});
