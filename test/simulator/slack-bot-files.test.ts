import { afterAll, afterEach, beforeEach, expect, test } from '@jest/globals';
import { got } from 'got';
import type { Messenger } from '../../src/simulator/start-messenger.ts';
import { helloStream, startScriptedChatServer } from '../bot/model/scripted-chat-server.ts';
import { startDeployment, untilTrue, type Deployment } from '../support/deployment.ts';
import { useTestRedis } from '../support/use-test-redis.ts';
import { callApi, startSlackAtTest } from './slack-at-test.ts';
import { startStandInSlackBot, type StandInSlackBot } from './stand-in-slack-bot.ts';

const redis = useTestRedis();
let bot: StandInSlackBot;
let messenger: Messenger;
let deployment: Deployment | undefined;

beforeEach(async () => {
  await redis.redis.flushall();
  bot = await startStandInSlackBot();
  messenger = await startSlackAtTest({ redis: redis.redis, botUrl: bot.url, nowMs: Date.now });
});
afterEach(async () => {
  await messenger.close();
  await bot.close();
});
afterAll(() => deployment?.stop());

const call = (method: string, args: object = {}) => callApi(messenger, method, args).then(({ body }) => body);
const fetched = (address: string) => got(address, { throwHttpErrors: false, retry: { limit: 0 } });
const addressIn = (text = '') => /\((http[^)]+)\)/.exec(text)?.[1] ?? '';

async function said() {
  const message = await messenger.driver.send('lin', 'a question');
  const [channel = '', ts = ''] = message.id.split('-');
  return { channel, ts };
}

async function bring(text: string, length = Buffer.byteLength(text)) {
  const begun = await call('files.getUploadURLExternal', { filename: 'answer.md', length: String(length) });
  const { statusCode } = await got.post(String(begun['upload_url']), { body: text, throwHttpErrors: false });
  return { id: String(begun['file_id']), statusCode };
}

test('a file is announced, uploaded and shown once in the thread with a download [slack-files]', async () => {
  const { channel, ts } = await said();
  const { id, statusCode } = await bring('# Whole\n<script>');
  expect(statusCode).toBe(200);
  const own = async () => (await messenger.driver.messages('lin')).filter(({ sender }) => sender === 'bot');
  expect(await own()).toEqual([]);
  const complete = { files: [{ id, title: 'answer.md' }], channel_id: channel, thread_ts: ts };
  const both = await Promise.all([
    call('files.completeUploadExternal', complete),
    call('files.completeUploadExternal', complete),
  ]);
  expect(both.map(({ ok }) => ok)).toEqual([true, true]);
  const [message, ...others] = await own();
  expect(others).toEqual([]);
  expect(message).toMatchObject({ state: 'final', text: expect.stringMatching(/^📎 \[answer\.md\]\(http/) });
  const { headers, body } = await fetched(addressIn(message?.text));
  expect(body).toBe('# Whole\n<script>');
  expect(headers).toMatchObject({
    'content-type': 'text/plain; charset=utf-8',
    'content-disposition': expect.stringContaining('attachment; filename="answer.md"'),
    'x-content-type-options': 'nosniff',
  });
  expect(await call('files.info', { file: id })).toMatchObject({ file: { shares: { private: { [channel]: [{}] } } } });
  const replies = await call('conversations.replies', { channel, ts });
  expect(replies['messages']).toEqual([expect.anything(), expect.objectContaining({ files: [expect.anything()] })]);
});

test('an incomplete upload cannot be shown, and a file that was not shown cannot be read', async () => {
  const { channel } = await said();
  const short = await bring('abc', 4);
  expect(short.statusCode).toBe(400);
  for (const id of [short.id, 'F0']) {
    const complete = { files: [{ id }], channel_id: channel };
    expect(await call('files.completeUploadExternal', complete)).toEqual({ ok: false, error: 'file_not_found' });
  }
  expect((await fetched(`${messenger.url}/bot-files/none/answer.md`)).statusCode).toBe(404);
});

test('an answer of 60,000 characters by the real bot is its beginning and a file to download [one-file]', async () => {
  const chat = await startScriptedChatServer();
  const long = Array.from({ length: 10_000 }, (_, word) => `w${word}`).join(' ');
  chat.script(helloStream(long));
  deployment = await startDeployment({
    protocol: 'slack',
    env: { SIGN_IN: 'off', SIGN_IN_PROOF: '', CHAT_BASE_URL: chat.baseUrl },
  });
  const { driver } = deployment.messenger;
  await driver.send('emma.clarke', 'a long one');
  const bots = async () => (await driver.messages('emma.clarke')).filter(({ sender }) => sender === 'bot');
  await untilTrue(async () => {
    const [beginning] = await bots();
    return beginning?.note?.includes('answer.md') ?? false;
  }, 20_000);
  const [beginning, file, ...others] = await bots();
  expect(others).toEqual([]);
  expect(long.startsWith(beginning?.text.slice(0, 10_000) ?? '-')).toBe(true);
  expect((await fetched(addressIn(file?.text))).body).toBe(long);
  expect(driver.violations()).toEqual([]);
  await chat.stop();
}, 60_000);
