import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readImpersonationArgs } from '../../src/cli/check/impersonation-args.ts';
import { runAsCommand } from '../../src/cli/check/check-as-command.ts';
import { loadSettings } from '../../src/bot/config/load-settings.ts';
import { helloStream, startScriptedChatServer, type ScriptedChatServer } from '../bot/model/scripted-chat-server.ts';
import { startDeployment, untilTrue, type Deployment } from '../support/deployment.ts';

const folder = mkdtempSync(join(tmpdir(), 'parley-scenes-'));
const SCENES_FILE = join(folder, 'scenes.json');
const TOWN = { group: 'wrtown' };
let chat: ScriptedChatServer;
let deployment: Deployment;

const SCENES = [
  {
    name: 'desk',
    groups: ['wrtown'],
    instructions: 'You are the help desk of the town.',
    tools: [],
    models: ['svc-max'],
  },
  {
    name: 'office',
    who: { departments: ['31*'] },
    instructions: 'You know the office.',
    tools: ['current_time'],
    ...{ thinking: 'high', style: 'brief', language: 'zh' },
    ...{
      welcome: { zh: '办公室欢迎你', en: 'The office welcomes you' },
      prompts: { zh: ['怎么报修？'], en: ['How?'] },
    },
  },
  { name: 'students', who: { identity: ['XS'] }, models: ['svc-plus'] },
];

beforeAll(async () => {
  writeFileSync(SCENES_FILE, JSON.stringify(SCENES));
  chat = await startScriptedChatServer();
  deployment = await startDeployment({ env: { CHAT_BASE_URL: chat.baseUrl, SCENES_FILE } });
  for (const person of ['zhangwei', 'linxiaoyu', 'emma.clarke']) {
    chat.script(helloStream('hello'));
    const message = await driver().send(person, 'hello');
    await untilTrue(async () => (await driver().answer(message.id))?.text.includes('/link/') ?? false);
    await deployment.signIn(person, (await driver().answer(message.id))?.text ?? '');
    await driver().waitForAnswer(message.id);
  }
}, 90_000);
afterAll(async () => {
  await deployment.stop();
  await chat.stop();
  rmSync(folder, { recursive: true });
});
beforeEach(() => void chat.calls.splice(0));

const driver = () => deployment.messenger.driver;
const ask = async (person: string, text: string, conversation?: typeof TOWN) => {
  chat.script(helloStream(`answer to ${text}`));
  const message = await driver().send(person, { text, conversation, mention: conversation !== undefined });
  return driver().waitForAnswer(message.id, { timeoutMs: 15_000 });
};
interface Asked {
  model: string;
  messages: { role: string; content: string }[];
  tools?: { function: { name: string } }[];
  reasoning_effort?: string;
}
const asked = () => chat.calls.at(-1)?.body as unknown as Asked;
const systemPrompt = () => asked().messages[0]?.content ?? '';
const tools = () => asked().tools?.map((tool) => tool.function.name) ?? [];

test('each place uses its own scene: instructions, model, tools, thinking [scenes-narrow]', async () => {
  await ask('zhangwei', 'first question');
  expect(systemPrompt()).toContain('You know the office.\n\nAnswer in Chinese');
  expect(systemPrompt()).toContain('Answer briefly');
  expect(asked().model).toBe('svc-plus');
  expect(tools()).toEqual(['current_time']);
  expect(JSON.stringify(asked())).toContain('"thinking":{"type":"enabled"}');
  await ask('zhangwei', 'second question', TOWN);
  expect(systemPrompt()).toContain('help desk of the town');
  expect(systemPrompt()).not.toContain('know the office');
  expect(asked().model).toBe('svc-max');
  expect(tools()).toEqual([]);
  await ask('emma.clarke', 'third question');
  expect(systemPrompt()).not.toMatch(/know the office|help desk/);
  expect(tools()).toContain('who_am_i');
});

test('/model lists and accepts only models of the scene, and an earlier choice does not extend it [scenes-narrow]', async () => {
  expect((await ask('emma.clarke', '/model svc-max')).text).toContain('svc-max');
  const list = await ask('linxiaoyu', '/model');
  expect(list.text).toContain('svc-plus');
  expect(list.text).not.toContain('svc-max');
  expect((await ask('linxiaoyu', '/model svc-max')).text).not.toMatch(/^svc-max/);
  await ask('linxiaoyu', 'a question');
  expect(asked().model).toBe('svc-plus');
});

test('a changed scene begins a new conversation without the history and the rights of the old one [scenes-narrow]', async () => {
  await ask('linxiaoyu', 'canary-question');
  await ask('linxiaoyu', 'and now');
  expect(JSON.stringify(asked().messages)).toContain('canary-question');
  const changed = SCENES.map((one) => (one.name === 'students' ? { ...one, tools: [], models: ['svc-max'] } : one));
  writeFileSync(SCENES_FILE, JSON.stringify(changed));
  await deployment.stopBot();
  await deployment.startBot();
  await untilTrue(() => driver().isBotReachable());
  const answer = await ask('linxiaoyu', 'after the change');
  expect(JSON.stringify(asked().messages)).not.toContain('canary-question');
  expect([asked().model, tools()]).toEqual(['svc-max', []]);
  expect(answer.note).toBe('Your settings here have changed, so this is a new conversation.');
  await ask('linxiaoyu', 'and then');
  expect(JSON.stringify(asked().messages)).toContain('after the change');
  expect(JSON.stringify(asked().messages)).not.toContain('canary-question');
  chat.script(helloStream('again'));
  const again = await driver().send('linxiaoyu', '/retry');
  await driver().waitForAnswer(again.id);
  expect(JSON.stringify(asked().messages)).not.toContain('canary-question');
  expect(tools()).toEqual([]);
}, 60_000);

test('a person who opens the chat gets the welcome of the scene of their linked account', async () => {
  await driver().enterChat('zhangwei');
  await untilTrue(async () => JSON.stringify(await driver().messages('zhangwei')).includes('办公室欢迎你'));
  expect(JSON.stringify(await driver().messages('zhangwei'))).toContain('怎么报修？');
  await driver().enterChat('chenguodong');
  await untilTrue(async () => JSON.stringify(await driver().messages('chenguodong')).includes('你能做什么'));
  expect(JSON.stringify(await driver().messages('chenguodong'))).not.toContain('办公室欢迎你');
});

test.each([
  [
    'JG 3100 private',
    /Rule +staff.*identity JG[\s\S]*Scene +office.*departments 31\*[\s\S]*Models +svc-plus.*svc-max[\s\S]*Tools +current_time\n/,
  ],
  ['XS 2203 group wrtown', /Scene +desk.*groups wrtown[\s\S]*Models +svc-max[\s\S]*Tools +none/],
  ['qt private slack', /QT, in a private chat on Slack[\s\S]*Rule +otherwise[\s\S]*Scene +no scene matches/],
  [
    'unlinked group wrtown',
    /a person who is not signed in, in the group wrtown[\s\S]*Scene +desk[\s\S]*none before they sign in/,
  ],
])('the check shows for “%s” the matching rule and scene, the reason, and the effect', async (text, told) => {
  writeFileSync(SCENES_FILE, JSON.stringify(SCENES));
  expect(await checkAs(text)).toMatch(told);
});

async function checkAs(text: string, env: Record<string, string> = {}): Promise<string> {
  const settings = loadSettings({ env: { ...deployment.env, ...env }, cwd: process.cwd() });
  const person = readImpersonationArgs(text);
  if (!settings.ok || !person) throw new Error('cannot be read');
  let said = '';
  const output = { write: (words: string) => ((said += words), true) };
  expect(await runAsCommand(settings.config, settings.secrets, person, output)).toBe(0);
  return said;
}

test.each([
  [
    'JG 3100 private',
    /Scene +desk[\s\S]*Tools +knowledge_search\n[\s\S]*Knowledge +documents that they may read in Library/,
  ],
  ['JG 3100 group wrtown', /Knowledge +public documents of Library/],
  ['JG 3100 group wrlab', /Scene +mute[\s\S]*Knowledge +none: knowledge_search is not available here/],
])('the check shows for “%s” what is searched', async (text, told) => {
  const KNOWLEDGE_FILE = join(folder, 'knowledge.json');
  writeFileSync(KNOWLEDGE_FILE, JSON.stringify({ sources: [{ name: 'Library', folder, readers: 'public' }] }));
  const scenes = [
    { name: 'mute', groups: ['wrlab'], tools: [] },
    { name: 'desk', tools: [], knowledge: ['Library'] },
  ];
  writeFileSync(SCENES_FILE, JSON.stringify(scenes));
  expect(await checkAs(text, { KNOWLEDGE_FILE })).toMatch(told);
});

test.each([
  '',
  'private',
  'JG',
  'JG 3100 group',
  'JG 3100 private now here',
  'unlinked 3100 private',
  'JG 1 2 private',
])('“%s” is not accepted as a person and place', (text) => {
  expect(readImpersonationArgs(text)).toBeUndefined();
});
