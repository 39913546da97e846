import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { WebSocket } from 'ws';
import type { Messenger } from '../../src/simulator/start-messenger.ts';
import { movableClock, TINY_PNG, until } from './messenger-at-test.ts';
import {
  BOT_ID,
  BOT_SECRET,
  BotProcess,
  RawBot,
  socketUrlOf,
  startConnected,
  type Frame,
} from './wecom-connection-at-test.ts';
import { useTestRedis } from '../support/use-test-redis.ts';

const redis = useTestRedis();
let messenger: Messenger;
let clock = movableClock();

beforeEach(async () => {
  await redis.redis.flushall();
  clock = movableClock();
  messenger = await startConnected({ redis: redis.redis, nowMs: clock.nowMs });
});
afterEach(() => messenger.close());

const botTexts = async () =>
  (await messenger.driver.messages('lin')).filter(({ sender }) => sender === 'bot').map(({ text }) => text);

describe('an answer over the connection [wecom-connection]', () => {
  test('grows by snapshots that replace each other, and is ended by the last one', async () => {
    const bot = await RawBot.subscribed(messenger);
    const { id } = await messenger.driver.send('lin', 'hi there');
    const reqId = await bot.told(id);
    expect(bot.messages).toEqual([
      {
        cmd: 'aibot_msg_callback',
        headers: { req_id: reqId },
        body: {
          msgid: id,
          aibotid: 'AIBOT-C',
          chattype: 'single',
          from: { userid: 'lin' },
          response_url: expect.stringContaining(`${messenger.url}/cgi-bin/aibot/response?response_code=`),
          msgtype: 'text',
          text: { content: 'hi there' },
        },
      },
    ]);
    expect(await bot.stream(reqId, 's1', '')).toEqual({ headers: { req_id: reqId }, errcode: 0, errmsg: 'ok' });
    expect(await messenger.driver.answer(id)).toMatchObject({ state: 'streaming', text: '' });
    await bot.stream(reqId, 's1', 'One');
    await bot.stream(reqId, 's1', 'One two', true);
    expect(await messenger.driver.waitForAnswer(id)).toMatchObject({ state: 'final', text: 'One two' });
    expect(messenger.driver.trace(id)).toEqual({ polls: 0, snapshots: ['', 'One', 'One two'] });
    expect(await messenger.driver.message(id)).toMatchObject({ state: 'sent' });
    expect(messenger.driver.violations()).toEqual([]);
    expect(messenger.driver.missed()).toEqual([]);
  });

  test('may be followed by further streams as separate messages, while the first stays the answer', async () => {
    const bot = await RawBot.subscribed(messenger);
    const { id } = await messenger.driver.send('lin', 'a long one');
    const reqId = await bot.told(id);
    await bot.stream(reqId, 's1', 'part one', true);
    await bot.stream(reqId, 's2', 'part');
    await bot.stream(reqId, 's2', 'part two', true);
    await bot.markdown(reqId, 'and a remark');
    expect(await botTexts()).toEqual(['part one', 'part two', 'and a remark']);
    expect(messenger.driver.trace(id).snapshots).toEqual(['part one']);
    expect(await messenger.driver.waitForAnswer(id)).toMatchObject({ text: 'part one' });
    expect(messenger.driver.violations()).toEqual([]);
  });

  test('applies a frame after the last one and reports a fault, except for a repeated last frame', async () => {
    const bot = await RawBot.subscribed(messenger);
    const { id } = await messenger.driver.send('lin', 'hello');
    const reqId = await bot.told(id);
    await bot.stream(reqId, 's1', 'whole', true);
    await bot.stream(reqId, 's1', 'whole', true);
    expect(messenger.driver.violations()).toEqual([]);
    expect(await bot.stream(reqId, 's1', '')).toMatchObject({ errcode: 0 });
    expect(await messenger.driver.answer(id)).toMatchObject({ state: 'final', text: '' });
    expect(messenger.driver.violations()).toMatchObject([{ questionId: id, reason: expect.stringContaining('last') }]);
  });
});

describe('the subscription [wecom-connection]', () => {
  test.each([
    ['an empty secret', { bot_id: BOT_ID, secret: '' }],
    ['a wrong secret', { bot_id: BOT_ID, secret: BOT_SECRET.slice(1) }],
    ['no secret', { bot_id: BOT_ID }],
    ['a secret that is not a text', { bot_id: BOT_ID, secret: [BOT_SECRET] }],
    ['another bot', { bot_id: 'AIBOT-X', secret: BOT_SECRET }],
    ['no body', undefined],
  ])('is refused for %s, which receives no messages [local-owner]', async (_what, body) => {
    const bot = await RawBot.subscribed(messenger);
    const stranger = await RawBot.open(messenger);
    expect(await stranger.send('aibot_subscribe', body)).toMatchObject({ errcode: 853000 });
    const { id } = await messenger.driver.send('lin', 'hello');
    await bot.told(id);
    expect([stranger.messages, bot.events]).toEqual([[], []]);
  });

  test('is refused for an empty secret where the bot has none [local-owner]', async () => {
    await messenger.close();
    messenger = await startConnected({ redis: redis.redis, secret: '' });
    const stranger = await RawBot.open(messenger);
    expect(await stranger.subscribe('')).toMatchObject({ errcode: 853000 });
    expect(messenger.driver.isBotReachable()).toBe(false);
  });

  test.each([
    ['a ping', 'ping', undefined],
    ['a push', 'aibot_send_msg', { chatid: 'lin', msgtype: 'markdown', markdown: { content: 'hi' } }],
    ['an answer', 'aibot_respond_msg', { msgtype: 'stream', stream: { id: 's1', finish: true, content: 'hi' } }],
    ['a welcome', 'aibot_respond_welcome_msg', { msgtype: 'text', text: { content: 'hi' } }],
    ['an upload', 'aibot_upload_media_init', { type: 'file', filename: 'a', total_size: 1, total_chunks: 1, md5: 'a' }],
  ])('is required before %s of a local program [local-owner]', async (_what, cmd, body) => {
    const bot = await RawBot.subscribed(messenger);
    const { id } = await messenger.driver.send('lin', 'hello');
    const reqId = await bot.told(id);
    const stranger = await RawBot.open(messenger);
    expect(await stranger.send(cmd, body, reqId)).toMatchObject({ errcode: 846609 });
    expect(await botTexts()).toEqual([]);
  });

  test.each(['https://site.example', 'null', 'http://127.0.0.1:1'])(
    'cannot be requested by a page, even with the secret: Origin %s [local-owner]',
    async (origin) => {
      const socket = new WebSocket(socketUrlOf(messenger), { origin });
      const [, response] = (await once(socket, 'unexpected-response')) as [unknown, IncomingMessage];
      expect(response.statusCode).toBe(403);
      socket.on('error', () => undefined).terminate();
    },
  );

  test('is refused for a wrong secret, and the socket stays open', async () => {
    const bot = await RawBot.open(messenger);
    expect(await bot.subscribe('another')).toMatchObject({ errcode: 853000 });
    expect(await bot.send('ping')).toMatchObject({ errcode: 846609 });
    expect(await bot.push('lin', 'hi')).toMatchObject({ errcode: 846609 });
    expect([bot.closed, messenger.driver.connections?.refusedCount]).toEqual([false, 1]);
    expect(await bot.subscribe()).toMatchObject({ errcode: 0 });
    expect(await bot.send('ping')).toMatchObject({ errcode: 0 });
  });

  test('moves to the newest connection; the old one is told at once, refused, and closed later', async () => {
    const old = await RawBot.subscribed(messenger);
    const { id } = await messenger.driver.send('lin', 'to the old one');
    const reqId = await old.told(id);
    const bot = await RawBot.subscribed(messenger);
    await until(() => old.events.length === 1, 'the old one is told');
    expect(old.events[0]?.body?.event).toEqual({ eventtype: 'disconnected_event' });
    expect(await old.stream(reqId, 's1', 'too late')).toMatchObject({ errcode: 846609 });
    const next = await messenger.driver.send('lin', 'to the new one');
    await bot.told(next.id);
    expect(old.messages).toHaveLength(1);
    // The request outlives its connection.
    expect(await bot.stream(reqId, 's1', 'here', true)).toMatchObject({ errcode: 0 });
    await until(() => old.closed, 'the old one is closed');
    expect([bot.closed, messenger.driver.connections?.size]).toEqual([false, 1]);
  });

  test('counts messages that find no subscriber and fail, and those left unread', async () => {
    const early = await messenger.driver.send('lin', 'anybody there?');
    await expect(messenger.driver.waitForAnswer(early.id)).rejects.toMatchObject({ code: 'not_delivered' });
    const bot = await RawBot.subscribed(messenger);
    const { id } = await messenger.driver.send('lin', 'unread');
    const reqId = await bot.told(id);
    messenger.driver.connections?.disconnectAll();
    await until(() => messenger.driver.missed().length === 2, 'both are missed');
    expect(messenger.driver.missed()).toMatchObject([
      { questionId: early.id, wasBrought: false },
      { questionId: id, wasBrought: true },
    ]);
    const again = await RawBot.subscribed(messenger);
    await again.stream(reqId, 's1', 'it had come', true);
    expect(messenger.driver.missed().map(({ questionId }) => questionId)).toEqual([early.id]);
    expect(again.messages).toEqual([]);
  });
});

describe("WeCom's own client on the connection [wecom-connection]", () => {
  let clients: BotProcess[] = [];
  const start = async (secret?: string) => {
    const client = new BotProcess(messenger, secret);
    clients.push(client);
    await client.heard('first word', ({ type }) => type !== 'disconnected');
    if (secret === undefined) await until(() => messenger.driver.isBotReachable(), 'the bot is there');
    return client;
  };
  afterEach(async () => {
    await Promise.all(clients.map((client) => client.end()));
    clients = [];
  });

  test('receives a message and answers it in a stream', async () => {
    const client = await start();
    const { id } = await messenger.driver.send('lin', 'hello');
    const { frame } = await client.heard('the message', ({ type }) => type === 'message');
    expect(frame?.body).toMatchObject({ msgid: id, msgtype: 'text', text: { content: 'hello' } });
    await client.call('replyStream', frame, 's1', 'One', false);
    expect(await messenger.driver.answer(id)).toMatchObject({ state: 'streaming', text: 'One' });
    await client.call('replyStream', frame, 's1', 'One two', true);
    expect(await messenger.driver.waitForAnswer(id)).toMatchObject({ text: 'One two' });
    expect(messenger.driver.violations()).toEqual([]);
  });

  test('welcomes, pushes, sends a file, opens an image, and receives a rating', async () => {
    const client = await start();
    const entered = messenger.driver.enterChat('lin');
    const { frame: entry } = await client.heard('the entry', ({ type }) => type === 'event');
    await client.call('replyWelcome', entry, { msgtype: 'text', text: { content: 'Welcome!' } });
    await entered;
    const { id } = await messenger.driver.send('lin', { text: '', images: [TINY_PNG] });
    const { frame } = await client.heard('the image', ({ type }) => type === 'message');
    const { url, aeskey } = frame?.body?.['image'] as { url: string; aeskey: string };
    expect(await client.call('downloadFile', url, aeskey)).toMatchObject({
      result: { buffer: { data: [...TINY_PNG] } },
    });
    await client.call('replyStream', frame, 's1', 'A dot', true, [], { id: 'FB-1' });
    const answer = await messenger.driver.waitForAnswer(id);
    await client.call('sendMessage', 'lin', { msgtype: 'markdown', markdown: { content: 'by the way' } });
    const upload = await client.call('uploadMedia', { file: [...TINY_PNG] }, { type: 'image', filename: 'dot.png' });
    const mediaId = (upload.result as unknown as { media_id: string }).media_id;
    expect(await client.call('replyMedia', frame, 'image', mediaId)).toMatchObject({ type: 'done' });
    expect((await messenger.driver.messages('lin')).map(({ text, images }) => [text, images.length])).toEqual([
      ['Welcome!', 0],
      ['', 1],
      ['A dot', 0],
      ['by the way', 0],
      ['', 1],
    ]);
    await messenger.driver.rate('lin', answer.id, 'good');
    const isRating = ({ frame: heard }: { frame?: Frame }) => heard?.body?.event?.eventtype === 'feedback_event';
    expect((await client.heard('the rating', isRating)).frame?.body?.event).toMatchObject({
      feedback_event: { id: 'FB-1', type: 1 },
    });
    expect(messenger.driver.violations()).toEqual([]);
  });

  test('ends after a refused secret, and reports a refused request', async () => {
    const wrong = await start('another secret');
    expect(wrong.told[0]).toMatchObject({ type: 'error', message: expect.stringContaining('853000') });
    const client = await start();
    const nobodys = { headers: { req_id: 'made-up' } };
    expect(await client.call('replyStream', nobodys, 's1', 'hi', true)).toMatchObject({
      type: 'failed',
      errcode: 846605,
    });
  });

  test('is disconnected by another client, and does not reconnect', async () => {
    const old = await start();
    await start();
    await old.heard('the end', ({ type }) => type === 'disconnected');
    await until(() => messenger.driver.connections?.size === 1, 'one is left');
    expect(messenger.driver.connections?.openedCount).toBe(2);
  });
});
