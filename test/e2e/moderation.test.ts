import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { chunk, helloStream, sse, type Answer } from '../bot/model/scripted-chat-server.ts';
import { bothPlatforms, PLATFORMS, type PlatformHere } from '../support/both-platforms.ts';
import { untilTrue } from '../support/deployment.ts';
import { useSlackDeployment } from '../support/slack-deployment.ts';

const deployment = useSlackDeployment();
const folder = mkdtempSync(join(tmpdir(), 'parley-moderation-'));
const wordsFile = join(folder, 'words.txt');
let service: Server;
let asked: { text: string; kind: string }[] = [];
/** The service's response to a text; undefined: none at all. */
let judge: (text: string, kind: string) => boolean | undefined;

beforeAll(async () => {
  writeFileSync(wordsFile, 'falcon\n违禁品\n');
  service = createServer((request, response) => {
    let body = '';
    request.on('data', (piece: Buffer) => (body += piece.toString()));
    request.on('end', () => {
      const given = JSON.parse(body) as { text: string; kind: string };
      asked.push(given);
      const allow = judge(given.text, given.kind);
      if (allow === undefined) response.writeHead(500).end();
      else response.setHeader('content-type', 'application/json').end(JSON.stringify({ allow }));
    });
  });
  await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
});
afterAll(() => {
  service.close();
  rmSync(folder, { recursive: true });
});
beforeEach(() => {
  asked = [];
  judge = () => true;
});
const serviceUrl = () => `http://127.0.0.1:${(service.address() as AddressInfo).port}/check`;

async function ask(platform: PlatformHere, setting: Record<string, string>, text: string) {
  const here = bothPlatforms(deployment);
  await deployment.startBot({ ...here.env, ...setting });
  const [seen] = await here.sayAll(platform, [{ person: 'ann', text }]);
  return { last: seen?.snapshots.at(-1), all: JSON.stringify(seen) };
}

/** Everything that is stored, readable or not, and all log lines. */
async function kept(): Promise<string> {
  const keys = await deployment.redis.keys('*:history:*');
  return [...deployment.lines, ...keys].join('\n');
}

/** One piece each 200 ms, so that each has a snapshot of its own. */
function slowStream(pieces: readonly string[]): Answer {
  return async (response) => {
    response.setHeader('content-type', 'text/event-stream');
    for (const piece of pieces) {
      response.write(chunk({ content: piece }));
      await pause(200);
    }
    response.end(chunk({}, 'stop') + sse('[DONE]'));
  };
}

describe.each(PLATFORMS)('moderation on %s [moderation]', (platform) => {
  test('a question with a listed word reaches no model, and nothing of it is kept', async () => {
    const { last } = await ask(platform, { MODERATION_WORDS_FILE: wordsFile }, 'Where is the F.A.L.C.O.N?');
    expect(last).toBe('By the rules of your institution I cannot take this question. Please ask it in other words.');
    expect(deployment.chat.calls).toEqual([]);
    expect(await kept()).not.toMatch(/history|F\.A\.L/);
  });

  test('an answer with a listed word is replaced by a sentence, however its stream is cut', async () => {
    deployment.chat.script(slowStream(['The golden ', 'f', 'al', 'co', 'n', ' flies', ' at noon.']));
    const { last, all } = await ask(platform, { MODERATION_WORDS_FILE: wordsFile }, '它在哪里？');
    expect(last).toBe('按本机构的规定，该回答不予显示。');
    expect(all).not.toMatch(/falcon/i);
    expect(await kept()).not.toMatch(/falcon/i);
  });

  test('an answer in which a word only begins like a listed one is shown whole', async () => {
    deployment.chat.script(helloStream('The falconer comes.'));
    const { last } = await ask(platform, { MODERATION_WORDS_FILE: wordsFile }, 'Who comes?');
    expect(last).toBe('The falconer comes.');
  });

  test('the service judges the question and every text before it is shown', async () => {
    judge = (text) => !text.includes('secret');
    deployment.chat.script(helloStream('It is a secret place.'));
    const { last, all } = await ask(platform, { MODERATION_URL: serviceUrl() }, 'Where is it?');
    expect(last).toBe('By the rules of your institution this answer is not shown.');
    expect(all).not.toContain('secret');
    expect(asked[0]).toEqual({ text: 'Where is it?', kind: 'prompt' });
    expect(asked.at(-1)).toMatchObject({ kind: 'answer' });
  });

  test.each([
    ['block', 'The text cannot be checked at the moment. Please ask again later.'],
    ['allow', 'It is open.'],
  ])('while the service is away, MODERATION_AWAY=%s decides', async (away, shown) => {
    judge = () => undefined;
    deployment.chat.script(helloStream('It is open.'));
    const { last } = await ask(platform, { MODERATION_URL: serviceUrl(), MODERATION_AWAY: away }, 'Is it open?');
    // A refusal ends with its reference.
    expect(last?.slice(0, shown.length)).toBe(shown);
  });
});

test('a listed word in the messages or files of a Slack thread reaches no model [moderation]', async () => {
  await deployment.startBot({ MODERATION_WORDS_FILE: wordsFile });
  deployment.chat.script(helloStream('Fine.'));
  const path = '/files-pri/T1-F1/notes.txt';
  deployment.slack.files.set(path, Buffer.from('The falcon flies at noon.'));
  const file = { id: 'F1', name: 'notes.txt', url_private: `${new URL(deployment.slack.apiUrl).origin}${path}` };
  const refused = 'By the rules of your institution I cannot take this question. Please ask it in other words.';
  const threads = [
    { said: [{ text: '', subtype: 'file_share', files: [file] }], bare: refused, asked: refused },
    { said: [{ text: 'Where is the falcon?' }], bare: refused, asked: 'Fine.' },
    { said: [{ text: 'Where is the fal\u200Bcon?' }, { text: 'On the roof.' }], bare: 'Fine.', asked: 'Fine.' },
  ];
  for (const [at, { said, bare, asked }] of threads.entries()) {
    const [threadTs, channel] = [`175000000${at}.000001`, `C${at}`];
    const thread = said.map((one, index) => ({ ...one, ts: `175000000${at}.00000${index + 1}` }));
    deployment.slack.threads.set(
      threadTs,
      thread.map((one) => ({ type: 'message', thread_ts: threadTs, user: 'UBEN', ...one })),
    );
    for (const text of ['', 'Please answer this.']) {
      await deployment.sender.mention({ channel, userId: 'UANN', threadTs }, text);
      await untilTrue(async () => (await deployment.redis.keys('*:pending')).length === 0);
    }
    expect(deployment.textsIn(channel)).toEqual([bare, asked]);
  }
  const told = deployment.slack.messages.filter(({ note }) => note.includes('I left out a part of this thread.'));
  expect(told).toHaveLength(3);
  const prompts = JSON.stringify(deployment.chat.calls.map(({ body }) => body));
  expect(prompts).toContain('On the roof.');
  expect(prompts).not.toMatch(/fal\S?con/);
});

test('the list is read again on SIGHUP, and a faulty one leaves the old one in use [moderation]', async () => {
  const file = join(folder, 'changing.txt');
  writeFileSync(file, 'falcon\n');
  const here = bothPlatforms(deployment);
  const bot = await deployment.startBot({ ...here.env, MODERATION_WORDS_FILE: file });
  const blocked = async (text: string) => {
    deployment.chat.script(helloStream('Fine.'));
    const [seen] = await here.sayAll('wecom', [{ person: 'ann', text }]);
    return seen?.snapshots.at(-1) !== 'Fine.';
  };
  expect([await blocked('an eagle'), await blocked('a falcon')]).toEqual([false, true]);
  writeFileSync(file, 'eagle\n');
  await bot.reread();
  expect([await blocked('an eagle'), await blocked('a falcon')]).toEqual([true, false]);
  writeFileSync(file, '…\n');
  await expect(bot.reread()).rejects.toThrow('line 1 has neither a letter nor a digit');
  expect(await blocked('an eagle')).toBe(true);
});

describe('MODERATION_MASK [masking]', () => {
  const setting = { MODERATION_MASK: 'phone,id-number', REPLY_MIN_EDIT_MS: '0' };
  const phone = ['13', '8123', '45', '678'];

  test.each(PLATFORMS)('on %s shows no part of a number, however the answer is cut', async (platform) => {
    deployment.chat.script(slowStream(['Call ', ...phone, ', or 6222', '.']));
    const { last, all } = await ask(platform, setting, 'Who answers?');
    expect(last).toBe('Call [phone number], or 6222.');
    expect(all).not.toMatch(/13|8123|45|678/);
  });

  test('sends the model no number of a question or of earlier turns, but those of its instructions', async () => {
    const here = bothPlatforms(deployment);
    deployment.chat.script(helloStream('Noted.'));
    const instructions = join(folder, 'instructions.md');
    writeFileSync(instructions, 'The help desk has the number 13912345678.');
    await deployment.startBot({ ...here.env, ...setting, CHAT_SYSTEM_PROMPT_FILE: instructions });
    await here.sayAll('wecom', [{ person: 'ann', text: `我的手机号是${phone.join('')}，身份证11010519491231002X` }]);
    await here.sayAll('wecom', [{ person: 'ann', text: 'Which number did I give you?' }]);
    const sent = deployment.chat.calls.map(({ body }) => JSON.stringify(body['messages'])).join('\n');
    expect(sent.match(/我的手机号是［手机号］，身份证［身份证号］/g)).toHaveLength(2);
    expect(sent).not.toMatch(/13812345678|11010519491231002X/);
    expect(sent).toContain('The help desk has the number 13912345678.');
  });

  test('in answers only leaves the question as it is', async () => {
    deployment.chat.script(helloStream(`Call ${phone.join('')}`));
    const { last } = await ask('slack', { ...setting, MODERATION_MASK_IN: 'answers' }, `I am ${phone.join('')}`);
    expect(last).toBe('Call [phone number]');
    expect(JSON.stringify(deployment.chat.calls[0]?.body['messages'])).toContain('I am 13812345678');
  });
});

test('an answer in one huge piece is checked to its end while other turns go on [moderation]', async () => {
  const words = 'The answer goes on. '.repeat(9_000);
  deployment.chat.script(helloStream(`${words} falcon ${words}`.slice(0, 199_000)));
  const { last, all } = await ask('wecom', { MODERATION_WORDS_FILE: wordsFile }, 'Where is it?');
  expect(last).toBe('By the rules of your institution this answer is not shown.');
  expect(all).not.toContain('falcon');
});
