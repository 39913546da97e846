import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  chunk,
  helloStream,
  startScriptedChatServer,
  streamOf,
  type Answer,
  type ScriptedChatServer,
} from '../bot/model/scripted-chat-server.ts';
import { startSmallWeb, type SmallWeb } from '../support/small-web.ts';
import { startDeployment, type Deployment } from '../support/deployment.ts';

const folder = mkdtempSync(join(tmpdir(), 'parley-read-page-'));
let web: SmallWeb;
let chat: ScriptedChatServer;
let deployment: Deployment;

beforeAll(async () => {
  web = await startSmallWeb();
  const toolsFile = join(folder, 'tools.json');
  writeFileSync(toolsFile, JSON.stringify({ tools: { read_page: { on: true } } }));
  chat = await startScriptedChatServer();
  deployment = await startDeployment({
    env: { SIGN_IN: 'off', CHAT_BASE_URL: chat.baseUrl, TOOLS_FILE: toolsFile },
    reach: web.reach,
  });
}, 60_000);
afterAll(async () => {
  await deployment.stop();
  await chat.stop();
  await web.close();
  rmSync(folder, { recursive: true });
});

const readsPage = (url: string): Answer => {
  const call = {
    index: 0,
    id: 'a',
    type: 'function',
    function: { name: 'read_page', arguments: JSON.stringify({ address: url }) },
  };
  return streamOf(chunk({ tool_calls: [call] }, 'tool_calls'));
};
/** Repeats the tool result, like a model that quotes it. */
const quotes: Answer = (response, call) => {
  const { messages } = call.body as { messages: { role: string; content: string }[] };
  const result = messages.findLast(({ role }) => role === 'tool')?.content ?? '';
  return helloStream(/opens at \w+|Nobody wrote this address here/.exec(result)?.[0] ?? 'Nothing.')(response, call);
};

async function ask(said: string): Promise<string> {
  const message = await deployment.messenger.driver.send('zhangwei', said);
  return (await deployment.messenger.driver.waitForAnswer(message.id, { timeoutMs: 18_000 })).text;
}

test('a page named in a WeCom question is read by the model, and the answer contains its text [egress-checked]', async () => {
  const url = `${web.pageUrl}/hours`;
  chat.script(readsPage(url), quotes);
  expect(await ask(`When does it open? ${url}`)).toBe('opens at seven');
  expect(web.opened).toEqual([url.replace('http://', '')]);
});

test('a page whose address was not named is not opened, and the model gets an error [egress-checked]', async () => {
  web.opened.splice(0);
  chat.script(readsPage(`${web.pageUrl}/secret`), quotes);
  expect(await ask('When does the other one open?')).toBe('Nobody wrote this address here');
  expect(web.opened).toEqual([]);
});

test('a refused call does not make its address count as named, and neither does the beginning of another address [named-addresses]', async () => {
  web.opened.splice(0);
  const planted = `${web.pageUrl}/secret`;
  const callsWith = (name: string, args: object): Answer =>
    streamOf(
      chunk(
        { tool_calls: [{ index: 0, id: name, type: 'function', function: { name, arguments: JSON.stringify(args) } }] },
        'tool_calls',
      ),
    );
  chat.script(
    readsPage(planted),
    callsWith('read_page', { address: `${web.pageUrl}/hours`, [planted]: true }),
    callsWith('current_time', { timeZone: planted }),
    callsWith(planted, {}),
    readsPage(planted),
    quotes,
  );
  expect(await ask(`When does it open? ${planted}-agreement`)).toBe('Nobody wrote this address here');
  expect(web.opened).toEqual([]);
  const results = chat.calls.flatMap(
    ({ body }) => (body as { messages: { role: string; content: unknown }[] }).messages,
  );
  for (const { role, content } of results) if (role === 'tool') expect(String(content)).not.toContain('secret');
});
