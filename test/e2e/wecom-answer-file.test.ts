import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { createHash } from 'node:crypto';
import { got } from 'got';
import { freePort } from '../../src/bot/app/local/embedded-redis.ts';
import { startDeployment, untilTrue, type Deployment } from '../support/deployment.ts';
import { startParleyProcess, type ParleyProcess } from '../support/parley-process.ts';
import { startRawConnections, type RawConnections, type SentFrame } from '../support/raw-wecom-connections.ts';
import { everyNth } from '../support/tries.ts';

jest.setTimeout(90_000);

/** Slightly more than four WeCom messages. */
const COUNT = 14_500;
const WHOLE = Array.from({ length: COUNT }, (_, index) => index + 1).join(' ');
const NOTE = '… (the full answer follows as the file answer.md; if that fails, as messages)';
const MAX_BYTES = 20_480;
const UNKNOWN_REQUEST = 846_605;

let deployment: Deployment;
let wecom: RawConnections;
const processes: ParleyProcess[] = [];

beforeAll(async () => {
  deployment = await startDeployment({
    isConnected: true,
    startsBot: false,
    tokensPerSec: 20_000,
    env: { SIGN_IN: 'off', SIGN_IN_PROOF: '' },
  });
});
afterAll(() => deployment.stop());
beforeEach(async () => {
  wecom = await startRawConnections();
  deployment.env['WECOM_WS_URL'] = wecom.url;
});
afterEach(async () => {
  await deployment.stopBot();
  for (const one of processes) one.kill('SIGKILL');
  await Promise.all(processes.splice(0).map(({ ended }) => ended));
  await wecom.stop();
  await deployment.redis.flushall();
});

/** Uses the simulator instead of raw frames, to see what the person sees. */
async function startBotInMessenger(): Promise<void> {
  const url = deployment.messenger.url.replace(/^http/, 'ws');
  await deployment.startBot({ WECOM_WS_URL: `${url}/wecom-connection` });
  await untilTrue(() => deployment.messenger.driver.isBotReachable());
}

const startBot = async () => {
  await deployment.startBot();
  await untilTrue(() => wecom.isSubscribed);
};
const startProcess = async () => {
  const env = { ...deployment.env, PORT: String(await freePort()), ROLES: 'receiver,worker' };
  const parley = await startParleyProcess({ env, until: /is running|has started/ });
  processes.push(parley);
  return parley;
};
const framesOf = (cmd: string) => wecom.frames.filter((frame) => frame.cmd === cmd);
const isFile = ({ body }: SentFrame) => body['msgtype'] === 'file';
const fileMessages = () => wecom.frames.filter(isFile);
const followUps = async () => (await deployment.redis.keys('*:follow-up*')).length;
/** The finished texts of a request, one per stream, in their order. */
const finished = (request: string) => wecom.shown(request).flatMap(({ finish, content }) => (finish ? [content] : []));
/** The bytes uploaded under an upload id. */
const broughtAs = (uploadId: string) =>
  Buffer.concat(
    framesOf('aibot_upload_media_chunk')
      .filter(({ body }) => body['upload_id'] === uploadId)
      .sort((one, other) => Number(one.body['chunk_index']) - Number(other.body['chunk_index']))
      .map(({ body }) => Buffer.from(String(body['base64_data']), 'base64')),
  );
const ask = (text = `count to ${COUNT}`) => wecom.say(text);
const isOver = async () => (await followUps()) === 0;

/** The beginning, then one file with all of it, and nothing else. */
function expectFile(request: string, note = NOTE): void {
  const [beginning = '', ...others] = finished(request);
  expect(others).toEqual([]);
  expect(beginning.endsWith(`\n\n${note}`)).toBe(true);
  expect(Buffer.byteLength(beginning)).toBeLessThanOrEqual(MAX_BYTES);
  expect(WHOLE.startsWith(beginning.slice(0, -note.length).trimEnd())).toBe(true);
  expect(beginning.length).toBeGreaterThan(10_000);
}

function expectMessages(request: string): void {
  const texts = finished(request);
  expect(texts.length).toBeGreaterThan(3);
  const words = texts.map((text) => text.replace(/\n\n… \(.*\)$/, '')).join(' ');
  expect(words.split(/\s+/)).toEqual(WHOLE.split(' '));
}

describe('a WeCom answer of more than three messages over the connection [one-file]', () => {
  test.each([
    { question: `count to ${COUNT}`, note: NOTE },
    {
      question: `请数数：count to ${COUNT}`,
      note: '……（完整回答随后以文件 answer.md 发出；若无法发送，则另发消息）',
    },
  ])('is shown as its beginning with a file below it: $question', async ({ question, note }) => {
    await startBot();
    const request = ask(question);
    await untilTrue(async () => fileMessages().length > 0 && (await isOver()), 40_000);
    expectFile(request, note);
    expect(fileMessages()).toEqual([
      expect.objectContaining({
        cmd: 'aibot_respond_msg',
        reqId: request,
        body: { msgtype: 'file', file: { media_id: 'MEDIA-1' } },
      }),
    ]);
    const [begun] = framesOf('aibot_upload_media_init');
    const bytes = Buffer.from(WHOLE);
    const pieces = framesOf('aibot_upload_media_chunk');
    expect(begun?.body).toEqual({
      type: 'file',
      filename: 'answer.md',
      md5: createHash('md5').update(bytes).digest('hex'),
      total_size: bytes.length,
      total_chunks: pieces.length,
    });
    expect(pieces.length).toBeGreaterThan(1);
    expect(broughtAs('UPLOAD-1').equals(bytes)).toBe(true);
    // The file is shown after the beginning.
    const standsAt = wecom.frames.findIndex(
      ({ body }) => (body['stream'] as { finish?: boolean } | undefined)?.finish === true,
    );
    expect(standsAt).toBeLessThan(wecom.frames.findIndex(isFile));
    expect(wecom.pushes()).toEqual([]);
  });

  test('sends the file only after its beginning, even if WeCom accepts that only when it is repeated', async () => {
    const isLast = ({ body }: SentFrame) => (body['stream'] as { finish?: boolean } | undefined)?.finish === true;
    const lasts = () => wecom.frames.filter(isLast);
    wecom.judge = (frame) => (isLast(frame) && lasts().length === 1 ? -1 : 0);
    await startBot();
    ask();
    await untilTrue(async () => fileMessages().length > 0 && (await isOver()), 40_000);
    expect(lasts()).toHaveLength(2);
    expect(wecom.frames.findLastIndex(isLast)).toBeLessThan(wecom.frames.findIndex(isFile));
  });

  test('has no file when it fits in three messages', async () => {
    await startBot();
    const request = ask('count to 9000');
    await untilTrue(() => finished(request).length === 3, 40_000);
    await untilTrue(isOver);
    expect(framesOf('aibot_upload_media_init')).toEqual([]);
  });

  test.each(everyNth(['aibot_upload_media_init', 'aibot_upload_media_chunk', 'aibot_upload_media_finish'], 3))(
    'is delivered as messages when WeCom refuses %s',
    async (refused) => {
      wecom.judge = ({ cmd }) => (cmd === refused ? 40_058 : 0);
      await startBot();
      const request = ask();
      await untilTrue(async () => finished(request).length > 3 && (await isOver()), 60_000);
      expect(fileMessages()).toEqual([]);
      expectMessages(request);
    },
  );

  test('is delivered as messages when WeCom refuses the message with the file', async () => {
    wecom.judge = (frame) => (isFile(frame) ? 40_058 : 0);
    await startBot();
    const request = ask();
    await untilTrue(async () => finished(request).length > 3 && (await isOver()), 60_000);
    expect(fileMessages()).toHaveLength(3);
    expectMessages(request);
  });

  test('pushes the file when WeCom no longer knows its request', async () => {
    wecom.judge = (frame) => (isFile(frame) && frame.cmd === 'aibot_respond_msg' ? UNKNOWN_REQUEST : 0);
    await startBot();
    const request = ask();
    await untilTrue(async () => fileMessages().length === 2 && (await isOver()), 40_000);
    expectFile(request);
    expect(fileMessages().at(-1)).toMatchObject({
      cmd: 'aibot_send_msg',
      body: { chatid: 'zhangwei', chat_type: 1, msgtype: 'file', file: { media_id: 'MEDIA-1' } },
    });
  });

  test('does not repeat the message with the file when WeCom does not acknowledge it', async () => {
    wecom.judge = (frame) => (isFile(frame) ? 'silent' : 0);
    await startBot();
    const request = ask();
    await untilTrue(async () => fileMessages().length > 0 && (await isOver()), 40_000);
    expectFile(request);
    expect(fileMessages()).toHaveLength(1);
  });

  test('uploads the file again over the next connection, and shows it once', async () => {
    let finishes = 0;
    wecom.judge = ({ cmd }) => (cmd === 'aibot_upload_media_finish' && (finishes += 1) === 1 ? 'silent' : 0);
    await startBot();
    const request = ask();
    await untilTrue(() => finishes === 1, 40_000);
    wecom.cut();
    await untilTrue(async () => fileMessages().length > 0 && (await isOver()), 40_000);
    expectFile(request);
    expect(fileMessages().map(({ body }) => body['file'])).toEqual([{ media_id: 'MEDIA-2' }]);
    expect(broughtAs('UPLOAD-2').toString()).toBe(WHOLE);
  });

  test('shows the file once when the holder of the connection is killed during the upload', async () => {
    let finishes = 0;
    wecom.judge = ({ cmd }) => (cmd === 'aibot_upload_media_finish' && (finishes += 1) === 1 ? 'silent' : 0);
    const first = await startProcess();
    await untilTrue(() => wecom.isSubscribed, 20_000);
    await startProcess();
    const request = ask();
    await untilTrue(() => finishes === 1, 40_000);
    first.kill('SIGKILL');
    await untilTrue(async () => fileMessages().length > 0 && (await isOver()), 60_000);
    expectFile(request);
    expect(fileMessages()).toHaveLength(1);
  });

  test('has a file that its person can open in the simulator', async () => {
    await startBotInMessenger();
    const { driver } = deployment.messenger;
    const said = await driver.send('emma.clarke', `count to ${COUNT}`);
    expect((await driver.waitForAnswer(said.id, { timeoutMs: 30_000 })).text).toContain(NOTE);
    const addressIn = async () =>
      /^📎 \[answer\.md\]\((http\S+)\)$/.exec((await driver.messages('emma.clarke')).at(-1)?.text ?? '')?.[1] ?? '';
    await untilTrue(async () => (await addressIn()) !== '', 30_000);
    const file = await got(await addressIn());
    expect([file.body, file.headers['content-disposition']]).toEqual([WHOLE, 'attachment; filename="answer.md"']);
    expect(driver.violations()).toEqual([]);
  });
});
