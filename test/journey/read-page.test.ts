import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PUBLIC_WEB } from '../../src/tools/page/reach.ts';
import { chunk, helloStream, startScriptedChatServer, streamOf } from '../chat/scripted-chat-server.ts';
import type { Answer, ScriptedChatServer } from '../chat/scripted-chat-server.ts';
import { startTown, type Town } from '../support/town.ts';

const SAID = 'The library opens at seven in the morning during the exams.';
const NAME = 'news.library.example';

const folder = mkdtempSync(join(tmpdir(), 'parley-read-page-'));
let asked: string[] = [];
let page: Server;
let chat: ScriptedChatServer;
let town: Town;

beforeAll(async () => {
  page = createServer((request, response) => {
    asked.push(`${request.headers.host ?? ''}${request.url ?? ''}`);
    response.setHeader('content-type', 'text/plain; charset=utf-8').end(SAID);
  });
  await new Promise<void>((resolve) => page.listen(0, '127.0.0.1', resolve));
  const toolsFile = join(folder, 'tools.json');
  writeFileSync(toolsFile, JSON.stringify({ tools: { read_page: { on: true } } }));
  chat = await startScriptedChatServer();
  town = await startTown({
    env: { SIGN_IN: 'off', CHAT_BASE_URL: chat.baseUrl, TOOLS_FILE: toolsFile },
    // The public web of this test is one page on this machine, under a name.
    reach: {
      ...PUBLIC_WEB,
      protocols: ['http:'],
      mayUsePort: (port) => port === portOfPage(),
      mayConnect: (address) => address === '127.0.0.1',
      resolve: async (hostname) => (hostname === NAME ? ['127.0.0.1'] : PUBLIC_WEB.resolve(hostname)),
    },
  });
}, 60_000);
afterAll(async () => {
  await town.stop();
  await chat.stop();
  await new Promise((resolve) => page.close(resolve));
  rmSync(folder, { recursive: true });
});

const portOfPage = () => (page.address() as AddressInfo).port;
const readsPage = (url: string): Answer => {
  const call = {
    index: 0,
    id: 'a',
    type: 'function',
    function: { name: 'read_page', arguments: JSON.stringify({ address: url }) },
  };
  return streamOf(chunk({ tool_calls: [call] }, 'tool_calls'));
};
/** Says what the tool brought, as a model that quotes it would. */
const quotes: Answer = (response, call) => {
  const { messages } = call.body as { messages: { role: string; content: string }[] };
  const result = messages.findLast(({ role }) => role === 'tool')?.content ?? '';
  return helloStream(/opens at \w+|Nobody wrote this address here/.exec(result)?.[0] ?? 'Nothing.')(response, call);
};

async function ask(said: string): Promise<string> {
  const message = await town.messenger.driver.say('zhangwei', said);
  return (await town.messenger.driver.waitForAnswer(message.id, { timeoutMs: 18_000 })).text;
}

test('security.md 6.7: a person names a page, the model reads it, and the answer in WeCom says what stands there', async () => {
  const url = `http://${NAME}:${portOfPage()}/hours`;
  chat.script(readsPage(url), quotes);
  expect(await ask(`When does it open? ${url}`)).toBe('opens at seven');
  expect(asked).toEqual([`${NAME}:${portOfPage()}/hours`]);
});

test('security.md 6.7: a page that nobody named is not opened, and the model is told so', async () => {
  asked = [];
  chat.script(readsPage(`http://${NAME}:${portOfPage()}/secret`), quotes);
  expect(await ask('When does the other one open?')).toBe('Nobody wrote this address here');
  expect(asked).toEqual([]);
});
