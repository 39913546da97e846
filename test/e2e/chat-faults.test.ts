import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { deflateSync } from 'node:zlib';
import { setTimeout as pause } from 'node:timers/promises';
import { startScriptedChatServer, type Answer, type ScriptedChatServer } from '../bot/model/scripted-chat-server.ts';
import { REPLY_TEXTS } from '../../src/bot/i18n/reply-texts.ts';
import { ageMessages } from '../support/age-messages.ts';
import { startDeployment, untilTrue, type Deployment } from '../support/deployment.ts';
import { testTier } from '../support/tries.ts';

let deployment: Deployment;
let chat: ScriptedChatServer;

beforeAll(async () => {
  chat = await startScriptedChatServer();
  deployment = await startDeployment({ env: { SIGN_IN: 'off', CHAT_BASE_URL: chat.baseUrl, GROUP_SCOPE: 'group' } });
}, 60_000);
afterAll(async () => {
  await deployment.stop();
  await chat.stop();
});
beforeEach(() => void chat.calls.splice(0));

const driver = () => deployment.messenger.driver;
const ask = async (person: string, said: Parameters<ReturnType<typeof driver>['send']>[1]) => {
  const message = await driver().send(person, said);
  return (await driver().waitForAnswer(message.id, { timeoutMs: 18_000 })).text;
};

const chunk = (delta: object, reason: string | null = null) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'svc-plus', choices: [{ index: 0, delta, finish_reason: reason }] })}\n\n`;
const streams =
  (text: string, ends: 'whole' | 'cut' = 'whole'): Answer =>
  (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(chunk({ content: text }));
    if (ends === 'whole') response.end(`${chunk({}, 'stop')}data: [DONE]\n\n`);
    else setTimeout(() => response.destroy(), 150);
  };
const fails =
  (status: number, body = '<html>upstream sorrow, secret-detail</html>'): Answer =>
  (response) => {
    response.writeHead(status, { 'content-type': 'text/html' });
    response.end(body);
  };

test('an unavailable chat service causes a short apology without details, and /retry answers once it is back [no-second-beginning]', async () => {
  chat.script(fails(400));
  const sorry = await ask('zhangwei', 'are you there?');
  expect(sorry).toContain('/retry');
  expect(sorry).not.toContain('secret-detail');
  chat.script(streams('Yes, here I am.'));
  expect(await ask('zhangwei', '/retry')).toBe('Yes, here I am.');
  const asked = chat.calls.at(-1)?.body['messages'] as { role: string; content: string }[];
  expect(asked.filter(({ role }) => role === 'user').map(({ content }) => content)).toEqual(['are you there?']);
});

test('a cut stream keeps the text that was shown and adds a notice [whole-answers]', async () => {
  chat.script(streams('The first half of', 'cut'));
  const answer = await ask('zhangwei', 'tell me');
  expect(answer).toMatch(/^The first half of/);
  expect(answer).toContain('/retry');
});

test("the answer contains only the model's text, with broadcast mentions neutralised", async () => {
  chat.script(streams('Hello **you**.\n\n- one\n- two'));
  expect(await ask('zhangwei', 'greet')).toBe('Hello **you**.\n\n- one\n- two');
  chat.script(streams('Dear @all and @所有人, hi'));
  const shown = await ask('zhangwei', 'shout');
  expect(shown).not.toContain('@all');
  expect(shown).not.toContain('@所有人');
});

test('<think> text in an answer is hidden, and an answer of only such text is reported as empty', async () => {
  chat.script(streams('<think>A plan.</think>\n\nYes.'));
  expect(await ask('linxiaoyu', 'think aloud')).toBe('Yes.');
  chat.script(streams('<think>A plan without an end.'));
  const answer = await ask('linxiaoyu', 'only think');
  expect(answer).toContain('/retry');
  expect(answer).not.toContain('plan');
});

test('history is part of the prompt until /new', async () => {
  await ask('zhangwei', '/new');
  chat.script(streams('Noted.'));
  await ask('zhangwei', 'my desk is 4711');
  await ask('zhangwei', 'which desk?');
  const prompt = JSON.stringify(chat.calls.at(-1)?.body['messages']);
  expect(prompt).toContain('my desk is 4711');
  expect(prompt).toContain('Noted.');
  await ask('zhangwei', '/new');
  await ask('zhangwei', 'which desk?');
  expect(JSON.stringify(chat.calls.at(-1)?.body['messages'])).not.toContain('4711');
});

test('a private chat and a group share no history; with GROUP_SCOPE=group the members share one conversation [group-is-not-private]', async () => {
  const group = { group: 'wrtown' };
  chat.script(streams('ok'));
  await ask('linxiaoyu', 'private-canary');
  await ask('linxiaoyu', { text: 'group-canary', conversation: group, mention: true });
  expect(JSON.stringify(chat.calls.at(-1)?.body['messages'])).not.toContain('private-canary');
  await ask('emma.clarke', { text: 'and now?', conversation: group, mention: true });
  const shared = JSON.stringify(chat.calls.at(-1)?.body['messages']);
  expect(shared).toContain('group-canary');
  expect(shared).not.toContain('linxiaoyu');
  await ask('linxiaoyu', 'alone again');
  expect(JSON.stringify(chat.calls.at(-1)?.body['messages'])).not.toContain('group-canary');
});

test('/retry sends the quote and the images of the question that failed', async () => {
  await ask('daniel.okoye', '/new');
  chat.script(streams('Noted.'));
  const quoted = await driver().send('daniel.okoye', 'the sentence to translate');
  await driver().waitForAnswer(quoted.id);
  chat.script(fails(400));
  const image = png(10, 10);
  await ask('daniel.okoye', { text: 'what is it about?', images: [image], quote: quoted.id });
  chat.script(streams('About both.'));
  expect(await ask('daniel.okoye', '/retry')).toBe('About both.');
  const asked = JSON.stringify((chat.calls.at(-1)?.body['messages'] as object[]).at(-1));
  expect(asked).toContain('the sentence to translate');
  expect(asked).toContain('what is it about?');
  expect(asked).toContain('data:image/png;base64,');
});

test('/stop during a /retry ends that answer', async () => {
  chat.script(streams('first'));
  await ask('zhangwei', 'a question');
  chat.script((response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(chunk({ content: 'growing and ' }));
  });
  const retry = await driver().send('zhangwei', '/retry');
  await untilTrue(async () => (await driver().answer(retry.id))?.text.startsWith('growing') ?? false);
  expect(await ask('zhangwei', '/stop')).toBe('Stopped.');
  expect((await driver().waitForAnswer(retry.id)).text.trim()).toBe('growing and');
});

/** Asks for a number of lines. @returns the lines, and the bot's texts after the question once they contain a word */
async function askForLines(
  person: string,
  count: number,
  lastWords: string,
): Promise<{ lines: string[]; texts: string[] }> {
  const lines = Array.from({ length: count }, (_, line) => `line ${line} of it`);
  chat.script(streams(lines.join('\n')));
  const question = await driver().send(person, 'everything, please');
  let texts: string[] = [];
  await untilTrue(async () => {
    const messages = await driver().messages(person);
    texts = messages.slice(messages.findIndex(({ id }) => id === question.id) + 1).map(({ text }) => text);
    const isWhole = texts.at(-1)?.endsWith(lastWords) ?? false;
    // This may take a minute, and reading all messages is most of the work.
    if (!isWhole) await pause(1_000);
    return isWhole;
    // On a busy machine a post that times out is repeated after up to 30 s.
  }, 200_000);
  return { lines, texts };
}
const linesOf = (texts: string[]) => texts.join('\n').match(/^line \d+ of it$/gm) ?? [];

test('an answer longer than two messages continues in further messages until it is complete', async () => {
  // About 52 KB; a message holds 20 KB.
  const { lines, texts } = await askForLines('zhangwei', 3_000, 'line 2999 of it');
  expect(linesOf(texts)).toEqual(lines);
  expect(texts[0]).toContain(REPLY_TEXTS.goesOn.en);
  expect(texts[1]).toContain(REPLY_TEXTS.goesOn.en);
  expect(texts[2]).toContain(REPLY_TEXTS.restOfAnswer.en);
  expect(texts.join('')).not.toContain(REPLY_TEXTS.cut.en);
  expect(driver().violations()).toEqual([]);
}, 240_000);

const testInLongTier = testTier() === 'long' ? test : test.skip;

testInLongTier(
  'an answer longer than five messages fills five messages and ends with a notice that it was cut',
  async () => {
    // About 150 KB, by another person, since the app may write only a limited number of messages per person and minute.
    const { lines, texts } = await askForLines('daniel.okoye', 9_000, REPLY_TEXTS.cut.en);
    const shown = linesOf(texts);
    expect(shown).toEqual(lines.slice(0, shown.length));
    expect(shown.length).toBeGreaterThan(5_500);
    expect(shown.length).toBeLessThan(6_500);
    expect(driver().violations()).toEqual([]);
  },
  240_000,
);

test('a question that stays unanswered for ten minutes gets an apology instead of a late answer [in-order]', async () => {
  await deployment.stopBot();
  const message = await driver()
    .send('emma.clarke', 'an old question')
    .catch(() => undefined);
  expect(message).toBeDefined();
  await deployment.startBot({ ROLES: 'receiver' });
  await untilTrue(async () => (await deployment.redis.keys('{p*}:pending')).length > 0);
  await deployment.stopBot();
  await ageMessages(deployment.redis, 11 * 60_000);
  chat.script(streams('too late'));
  await deployment.startBot();
  await untilTrue(() => deployment.lines.some((line) => line.includes('"outcome":"expired"')));
  expect(chat.calls).toHaveLength(0);
  await untilTrue(() => driver().isBotReachable());
  expect(await ask('emma.clarke', '/retry')).toBe('too late');
}, 60_000);

/** A small red picture, encoded here so that its size is known. */
function png(width: number, height: number): Buffer {
  const crcTable = Array.from({ length: 256 }, (_, index) => {
    let value = index;
    for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? 0xedb88320 ^ (value >>> 1) : value >>> 1;
    return value >>> 0;
  });
  const crc = (bytes: Buffer) =>
    (bytes.reduce((sum, byte) => (crcTable[(sum ^ byte) & 0xff] ?? 0) ^ (sum >>> 8), 0xffffffff) ^ 0xffffffff) >>> 0;
  const part = (type: string, data: Buffer) => {
    const named = Buffer.concat([Buffer.from(type), data]);
    const length = Buffer.alloc(4);
    length.writeUInt32BE(data.length);
    const sum = Buffer.alloc(4);
    sum.writeUInt32BE(crc(named));
    return Buffer.concat([length, named, sum]);
  };
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 2, 0, 0, 0], 8);
  const row = Buffer.concat([Buffer.from([0]), Buffer.alloc(width * 3, Buffer.from([220, 30, 30]))]);
  const rows = Buffer.concat(Array.from({ length: height }, () => row));
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([signature, part('IHDR', head), part('IDAT', deflateSync(rows)), part('IEND', Buffer.alloc(0))]);
}
