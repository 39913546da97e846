import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { got } from 'got';
import type { Messenger } from '../../src/simulator/start-messenger.ts';
import { openMedia } from '../../src/simulator/wecom/crypto.ts';
import { ConversationLimits } from '../../src/simulator/wecom/connection/conversation-limits.ts';
import { movableClock, TINY_PNG, until } from './messenger-at-test.ts';
import { RawBot, startConnected } from './wecom-connection-at-test.ts';
import { useTestRedis } from '../support/use-test-redis.ts';

const redis = useTestRedis();
let messenger: Messenger;
let bot: RawBot;
let clock = movableClock();

beforeEach(async () => {
  await redis.redis.flushall();
  clock = movableClock();
  messenger = await startConnected({ redis: redis.redis, nowMs: clock.nowMs });
  bot = await RawBot.subscribed(messenger);
});
afterEach(() => messenger.close());

/** Restarts the simulator with other rules and a subscribed bot. */
async function restartMessenger(options: Omit<Parameters<typeof startConnected>[0], 'redis'> = {}): Promise<void> {
  await messenger.close();
  messenger = await startConnected({ redis: redis.redis, nowMs: clock.nowMs, ...options });
  bot = await RawBot.subscribed(messenger);
}

const ask = async (said: Parameters<Messenger['driver']['send']>[1] = 'hello') => {
  const { id } = await messenger.driver.send('lin', said);
  return { id, reqId: await bot.told(id) };
};
const botMessages = async (conversation?: { group: string }) =>
  (await messenger.driver.messages('lin', conversation)).filter(({ sender }) => sender === 'bot');
const reasons = () => messenger.driver.violations().map(({ reason }) => reason);

describe('requests [wecom-connection]', () => {
  test('are 846605 if unknown, or of an earlier connection when the platform forgets them', async () => {
    expect(await bot.stream('made-up', 's1', 'hi')).toMatchObject({ errcode: 846605, errmsg: 'invalid req_id' });
    await restartMessenger({ forgetsRequests: true });
    const { id, reqId } = await ask();
    await bot.stream(reqId, 's1', 'One');
    bot = await RawBot.subscribed(messenger);
    expect(await bot.stream(reqId, 's1', 'One two')).toMatchObject({ errcode: 846605 });
    expect(await messenger.driver.answer(id)).toMatchObject({ state: 'streaming', text: 'One' });
    expect(messenger.driver.violations()).toEqual([]);
  });

  test('that were forgotten are answered by a push, and the partial answer stays unchanged', async () => {
    await restartMessenger({ forgetsRequests: true });
    const first = await ask('first');
    const second = await ask('second');
    const unbegun = await ask('third');
    await bot.stream(first.reqId, 's1', 'Alpha');
    await bot.stream(second.reqId, 's2', 'Beta');
    bot = await RawBot.subscribed(messenger);
    for (const { reqId } of [first, second, unbegun])
      expect(await bot.stream(reqId, 's1', 'more')).toMatchObject({ errcode: 846605 });
    await bot.push('lin', 'Beta and all the rest');
    await bot.push('lin', 'Alpha and all the rest');
    await bot.push('lin', 'the third');
    await bot.push('lin', 'by the way');
    expect(await messenger.driver.waitForAnswer(first.id)).toMatchObject({ text: 'Alpha and all the rest' });
    expect(await messenger.driver.waitForAnswer(second.id)).toMatchObject({ text: 'Beta and all the rest' });
    expect(await messenger.driver.waitForAnswer(unbegun.id)).toMatchObject({ text: 'the third' });
    expect((await botMessages()).map(({ text, state }) => `${text}: ${state}`)).toEqual([
      'Alpha: final',
      'Beta: final',
      'Beta and all the rest: final',
      'Alpha and all the rest: final',
      'the third: final',
      'by the way: final',
    ]);
    expect(messenger.driver.violations()).toEqual([]);
  });

  test('survive a restart of the platform', async () => {
    const { id, reqId } = await ask();
    await bot.stream(reqId, 's1', 'half');
    await restartMessenger();
    expect(await bot.stream(reqId, 's1', 'half and half', true)).toMatchObject({ errcode: 0 });
    expect(await messenger.driver.waitForAnswer(id)).toMatchObject({ text: 'half and half' });
    clock.move(24 * 3_600_000);
    expect(await bot.markdown(reqId, 'a day later')).toMatchObject({ errcode: 846605 });
  });
});

describe('the time window of a stream [wecom-connection]', () => {
  test('is six minutes from its first frame, whenever that came; afterwards the complete answer comes by the address', async () => {
    const { id, reqId } = await ask();
    clock.move(4 * 60_000);
    await bot.stream(reqId, 's1', 'half');
    clock.move(5 * 60_000);
    expect(await bot.stream(reqId, 's1', 'half an')).toMatchObject({ errcode: 0 });
    clock.move(60_000);
    expect(await bot.stream(reqId, 's1', 'half an answer', true)).toMatchObject({ errcode: 846608 });
    const url = String(bot.messages[0]?.body?.['response_url']);
    const later = { msgtype: 'markdown', markdown: { content: 'half an answer' } };
    expect(await got.post(url, { json: later }).json()).toMatchObject({ errcode: 0 });
    expect(await messenger.driver.waitForAnswer(id)).toMatchObject({ text: 'half an answer' });
    expect((await botMessages()).map(({ text, state }) => [text, state])).toEqual([
      ['half an', 'final'],
      ['half an answer', 'final'],
    ]);
    expect(messenger.driver.violations()).toEqual([]);
  });

  test('ends an unfinished answer with a platform notice unless it came another way', async () => {
    const { id, reqId } = await ask();
    await bot.stream(reqId, 's1', 'half');
    clock.move(7 * 60_000);
    expect(await messenger.driver.waitForAnswer(id)).toMatchObject({ state: 'failed', text: 'half' });
    expect(reasons()).toEqual([expect.stringContaining('not finished')]);
    expect((await messenger.driver.messages('lin')).at(-1)).toMatchObject({ sender: 'system' });
  });

  test('reports more than 20480 bytes, a text without a card, and a second concurrent stream as faults', async () => {
    const { id, reqId } = await ask();
    expect(await bot.stream(reqId, 's1', '字'.repeat(6_827))).toMatchObject({ errcode: 40058 });
    expect(await messenger.driver.answer(id)).toBeUndefined();
    expect(await bot.send('aibot_respond_msg', { msgtype: 'text', text: { content: 'x' } }, reqId)).toMatchObject({
      errcode: 40058,
    });
    expect(await bot.send('aibot_sing', {}, 'r1')).toMatchObject({ errcode: 40058 });
    await bot.stream(reqId, 's1', 'One');
    await bot.stream(reqId, 's2', 'Two', true);
    expect(reasons()).toEqual([
      expect.stringContaining('20481 bytes'),
      'the message has an unknown type',
      'a command of an unknown type',
      expect.stringContaining('before the one before it'),
    ]);
  });
});

describe('the message limits of a conversation [wecom-connection]', () => {
  test('are 30 a minute for answers and pushes together, with a stream as one', async () => {
    const { reqId } = await ask();
    for (let snapshot = 1; snapshot <= 40; snapshot += 1) await bot.stream(reqId, 's1', 'x'.repeat(snapshot));
    for (let count = 1; count < 30; count += 1)
      expect(await bot.push('lin', `push ${count}`)).toMatchObject({ errcode: 0 });
    expect(await bot.push('lin', 'one too many')).toMatchObject({ errcode: 846607 });
    expect(await bot.stream(reqId, 's2', 'one too many')).toMatchObject({ errcode: 846607 });
    expect(await bot.stream(reqId, 's1', 'done', true)).toMatchObject({ errcode: 0 });
    clock.move(60_000);
    expect(await bot.push('lin', 'a minute later')).toMatchObject({ errcode: 0 });
    expect(reasons()).toEqual(Array.from({ length: 2 }, () => 'more messages than a conversation accepts'));
  });

  test('count each snapshot if the platform does', async () => {
    await restartMessenger({ countsFrames: true });
    const { reqId } = await ask();
    for (let snapshot = 1; snapshot <= 30; snapshot += 1)
      expect(await bot.stream(reqId, 's1', 'x'.repeat(snapshot))).toMatchObject({ errcode: 0 });
    expect(await bot.stream(reqId, 's1', 'done', true)).toMatchObject({ errcode: 846607 });
  });

  test('are 1,000 an hour', () => {
    const limits = new ConversationLimits(clock.nowMs);
    const taken = Array.from({ length: 1_200 }, () => {
      clock.move(2_500);
      return limits.take('private-lin');
    });
    expect([taken.filter(Boolean).length, taken.indexOf(false)]).toEqual([1_000, 1_000]);
    expect(limits.take('group-wrLab')).toBe(true);
  });
});

describe('the life of a connection [wecom-connection]', () => {
  test('ends if it is silent, and continues with pings', async () => {
    await restartMessenger({ timing: { silenceMs: 1_000 } });
    for (let ping = 0; ping < 6; ping += 1) {
      await new Promise((resolve) => setTimeout(resolve, 250));
      expect(await bot.send('ping')).toMatchObject({ errcode: 0 });
    }
    await until(() => bot.closed, 'the silent one is dropped');
  });

  test('may include a forgotten subscription, which answers pings but delivers nothing', async () => {
    const { reqId } = await ask();
    messenger.driver.connections?.forgetSubscription?.();
    expect(await bot.send('ping')).toMatchObject({ errcode: 0 });
    expect(await bot.stream(reqId, 's1', 'hi')).toMatchObject({ errcode: 846609 });
    expect([bot.closed, bot.events]).toEqual([false, []]);
    const { id } = await messenger.driver.send('lin', 'nobody');
    await expect(messenger.driver.waitForAnswer(id)).rejects.toMatchObject({ code: 'not_delivered' });
    const next = await RawBot.subscribed(messenger);
    expect(await next.stream(reqId, 's1', 'hi', true)).toMatchObject({ errcode: 0 });
  });

  test('may include a freeze, in which messages are lost until it is dropped', async () => {
    await restartMessenger({ timing: { silenceMs: 1_500 } });
    messenger.driver.connections?.freezeAll?.();
    const { id } = await messenger.driver.send('lin', 'into nowhere');
    expect(messenger.driver.missed()).toEqual([]);
    await until(() => bot.closed, 'it is dropped');
    expect([bot.messages, messenger.driver.missed()]).toMatchObject([[], [{ questionId: id, wasBrought: true }]]);
  });

  test('ends for all when the platform closes them', async () => {
    messenger.driver.connections?.replaceAll('maintenance');
    await until(() => bot.events.length === 1, 'it is told');
    expect(bot.closed).toBe(false);
    await until(() => bot.closed, 'it is closed');
    await until(() => !messenger.driver.isBotReachable(), 'nobody is there');
  });

  test('includes acknowledgements that come later than their effect', async () => {
    await restartMessenger({ timing: { ackDelayMs: 250 } });
    const { id, reqId } = await ask();
    const acknowledged = bot.stream(reqId, 's1', 'seen before');
    await until(async () => (await messenger.driver.answer(id)) !== undefined, 'it is seen');
    expect(bot.frames.some(({ cmd, headers }) => cmd === undefined && headers.req_id === reqId)).toBe(false);
    expect(await acknowledged).toMatchObject({ errcode: 0 });
  });

  test('includes unread messages being sent again to a new subscription, if the platform does so', async () => {
    await restartMessenger({ resendsUnread: true });
    const read = await ask('read');
    await bot.stream(read.reqId, 's1', 'I know');
    const unread = await ask('unread');
    messenger.driver.connections?.disconnectAll();
    await until(() => messenger.driver.connections?.size === 0, 'it is gone');
    const between = await messenger.driver.send('lin', 'between');
    bot = await RawBot.subscribed(messenger);
    await bot.told(between.id);
    expect(bot.messages.map(({ body }) => body?.msgid)).toEqual([unread.id, between.id]);
    expect(await bot.told(unread.id)).not.toBe(unread.reqId);
    expect(await messenger.driver.message(between.id)).toMatchObject({ state: 'sent' });
  });

  test('limits a person to three open messages, and lost ones block no others', async () => {
    for (const text of ['a', 'b', 'c']) await ask(text);
    expect(await messenger.driver.send('lin', 'd')).toMatchObject({ state: 'failed' });
    messenger.driver.connections?.disconnectAll();
    bot = await RawBot.subscribed(messenger);
    const { id, reqId } = await ask('e');
    await bot.stream(reqId, 's1', 'here', true);
    expect(await messenger.driver.waitForAnswer(id)).toMatchObject({ text: 'here' });
  });
});

describe('delivered events [wecom-connection]', () => {
  test('contain media, each with a separate key, and a quote', async () => {
    const first = await ask({ text: '', images: [TINY_PNG] });
    await ask({ text: 'and these?', images: [TINY_PNG, TINY_PNG], quote: first.id });
    const [alone, mixed] = bot.messages.map(({ body }) => body);
    interface Media {
      url: string;
      aeskey: string;
    }
    const items = (mixed?.['mixed'] as { msg_item: { image?: Media }[] }).msg_item.flatMap(({ image }) => image ?? []);
    const all = [alone?.['image'] as Media, ...items];
    expect(all).toHaveLength(3);
    for (const { url, aeskey } of all) {
      const { body } = await got(url, { responseType: 'buffer' });
      expect(openMedia(Buffer.from(aeskey, 'base64'), body)).toEqual(TINY_PNG);
    }
    expect(new Set(all.map(({ aeskey }) => aeskey.length))).toEqual(new Set([43, 44]));
    expect(mixed?.['quote']).toMatchObject({ msgtype: 'image', image: { aeskey: expect.any(String) } });
  });

  test('contain the group id in a group, and no address if the platform gives none', async () => {
    await restartMessenger({ withoutResponseUrl: true });
    const { id, reqId } = await ask({ text: 'lunch?', conversation: { group: 'wrLab' }, mention: true });
    expect(bot.messages[0]?.body).toMatchObject({ chattype: 'group', chatid: 'wrLab', from: { userid: 'lin' } });
    expect(bot.messages[0]?.body).not.toHaveProperty('response_url');
    await bot.stream(reqId, 's1', 'soup', true);
    expect(await messenger.driver.waitForAnswer(id)).toMatchObject({ text: 'soup', conversationId: 'group-wrLab' });
  });

  test('of an entry accept a welcome on their own request, once and in time', async () => {
    const welcome = (content: string, reqId: string) =>
      bot.send('aibot_respond_welcome_msg', { msgtype: 'text', text: { content } }, reqId);
    const entered = messenger.driver.enterChat('lin');
    await until(() => bot.events.length === 1, 'it is told');
    const reqId = bot.events[0]?.headers.req_id ?? '';
    expect(bot.events[0]?.body).toMatchObject({ msgtype: 'event', event: { eventtype: 'enter_chat' } });
    expect(await bot.stream(reqId, 's1', 'hi')).toMatchObject({ errcode: 846605 });
    expect(await bot.send('aibot_respond_update_msg', {}, reqId)).toMatchObject({ errcode: 846605 });
    expect(await welcome('Welcome!', reqId)).toMatchObject({ errcode: 0 });
    await entered;
    expect(await messenger.driver.messages('lin')).toMatchObject([{ sender: 'system', text: 'Welcome!' }]);
    expect(await welcome('Again!', reqId)).toMatchObject({ errcode: 846605 });
    await messenger.driver.enterChat('ada');
    expect(await welcome('Too late!', bot.events[1]?.headers.req_id ?? '')).toMatchObject({ errcode: 846605 });
  });

  test("contain the fields of a rating below the event's name, and a card press that is answered by a replacement", async () => {
    const { id, reqId } = await ask();
    await bot.stream(reqId, 's1', 'good?', true, { feedback: { id: 'FB-1' } });
    const answer = await messenger.driver.waitForAnswer(id);
    await messenger.driver.rate('lin', answer.id, 'bad');
    await until(() => bot.events.length === 1, 'the rating is told');
    expect(bot.events[0]?.body?.event).toEqual({
      eventtype: 'feedback_event',
      feedback_event: { id: 'FB-1', type: 2 },
    });
    const click = { cardType: 'button_interaction', eventKey: 'k1', taskId: 'T1' };
    const clicked = messenger.driver.connections?.clickCard?.('lin', click);
    await until(() => bot.events.length === 2, 'the click is told');
    expect(bot.events[1]?.body?.event).toEqual({
      eventtype: 'template_card_event',
      template_card_event: { card_type: 'button_interaction', event_key: 'k1', task_id: 'T1' },
    });
    const update = { response_type: 'update_template_card', template_card: { task_id: 'T1' } };
    expect(await bot.send('aibot_respond_update_msg', update, bot.events[1]?.headers.req_id)).toMatchObject({
      errcode: 0,
    });
    expect(await clicked).toEqual({ kind: 'reply', reply: update });
  });
});

describe('pushes and files [wecom-connection]', () => {
  test('show cards, alone and next to a stream, by their text', async () => {
    const { id, reqId } = await ask();
    const card_action = { type: 1, url: 'https://e.example' };
    const template_card = { card_type: 'text_notice', main_title: { title: 'Proof', desc: 'signed' }, card_action };
    const card = { msgtype: 'template_card', template_card };
    expect(await bot.send('aibot_respond_msg', card, reqId)).toMatchObject({ errcode: 0 });
    expect(await messenger.driver.answer(id)).toBeUndefined();
    const both = { msgtype: 'stream_with_template_card', stream: { id: 's1', finish: true, content: 'Here' } };
    expect(await bot.send('aibot_respond_msg', { ...both, template_card }, reqId)).toMatchObject({ errcode: 0 });
    expect(await messenger.driver.waitForAnswer(id)).toMatchObject({ text: 'Here' });
    expect((await botMessages()).map(({ text }) => text)).toEqual(['Proof\n\nsigned', 'Here']);
  });

  test('reach a chat in which a person has written to the bot', async () => {
    expect(await bot.push('lin', 'hi')).toMatchObject({ errcode: 93001 });
    expect(await bot.push('nobody', 'hi')).toMatchObject({ errcode: 93006 });
    const { reqId } = await ask();
    await bot.stream(reqId, 's1', 'hello', true);
    expect(await bot.push('lin', 'hi', { chat_type: 1 })).toMatchObject({ errcode: 0 });
    expect(await bot.push('lin', 'hi', { chat_type: 2 })).toMatchObject({ errcode: 93006 });
    await ask({ text: 'lunch?', conversation: { group: 'wrLab' }, mention: true });
    expect(await bot.push('wrLab', 'soup')).toMatchObject({ errcode: 0 });
    expect(await bot.push('wrLab', 'x'.repeat(20_481))).toMatchObject({ errcode: 40058 });
    expect((await botMessages()).map(({ text }) => text)).toEqual(['hello', 'hi']);
    expect((await botMessages({ group: 'wrLab' })).map(({ text }) => text)).toEqual(['soup']);
  });

  test('reach a person whom the bot knows by an encrypted id', async () => {
    await restartMessenger({ encryptUserIds: true });
    await ask();
    const { userid } = bot.messages[0]?.body?.['from'] as { userid: string };
    expect(userid).toMatch(/^wo[0-9a-f]{30}$/);
    expect(await bot.push(userid, 'hi')).toMatchObject({ errcode: 0 });
    expect(await bot.push('lin', 'hi')).toMatchObject({ errcode: 93006 });
  });

  test('show a file in parts once it is complete', async () => {
    const { reqId } = await ask();
    const md5 = createHash('md5').update(TINY_PNG).digest('hex');
    const pieces = [TINY_PNG.subarray(0, 40), TINY_PNG.subarray(40)];
    const upload = async (type: string, md5OfWhole: string) => {
      const about = { type, filename: 'dot.png', total_size: TINY_PNG.length, total_chunks: 2, md5: md5OfWhole };
      const { upload_id } = (await bot.send('aibot_upload_media_init', about)).body as unknown as { upload_id: string };
      for (const [chunk_index, piece] of pieces.entries())
        await bot.send('aibot_upload_media_chunk', { upload_id, chunk_index, base64_data: piece.toString('base64') });
      return bot.send('aibot_upload_media_finish', { upload_id });
    };
    expect(await upload('image', '0')).toMatchObject({ errcode: 40058 });
    for (const type of ['image', 'file']) {
      const { media_id } = (await upload(type, md5)).body as unknown as { media_id: string };
      expect(await bot.send('aibot_respond_msg', { msgtype: type, [type]: { media_id } }, reqId)).toMatchObject({
        errcode: 0,
      });
    }
    const [image, file] = await botMessages();
    expect((await got(`${messenger.url}${image?.images[0]?.url ?? ''}`, { responseType: 'buffer' })).body).toEqual(
      TINY_PNG,
    );
    const address = /^📎 \[dot\.png\]\((http\S+)\)$/.exec(file?.text ?? '')?.[1] ?? '';
    const fetched = await got(address, { responseType: 'buffer' });
    expect([fetched.body, fetched.headers['content-type']]).toEqual([TINY_PNG, 'text/plain; charset=utf-8']);
  });
});
