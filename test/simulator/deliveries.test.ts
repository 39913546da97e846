import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { got } from 'got';
import type { Messenger } from '../../src/simulator/start-messenger.ts';
import { decodeAesKey, openMedia } from '../../src/simulator/wecom/crypto.ts';
import { mentionsBot } from '../../src/simulator/wecom/mentions-bot.ts';
import { movableClock, startAtTest, TINY_PNG, until } from './messenger-at-test.ts';
import { AES_KEY, startStandInBot, stream, type StandInBot } from './stand-in-bot.ts';
import { useTestRedis } from '../support/use-test-redis.ts';

const redis = useTestRedis();
let bot: StandInBot;
let messenger: Messenger;
const clock = movableClock();

beforeEach(async () => {
  await redis.redis.flushall();
  bot = await startStandInBot();
  messenger = await startAtTest({ redis: redis.redis, botUrl: bot.url, nowMs: clock.nowMs });
});
afterEach(async () => {
  await messenger.close();
  await bot.close();
});

describe('deliveries to the bot [wecom-callbacks]', () => {
  test('include a private text', async () => {
    bot.script = ({ msgid }) => stream(`s-${msgid}`, 'hello', true);
    const { id } = await messenger.driver.send('lin', 'hi there');
    expect(await messenger.driver.waitForAnswer(id)).toMatchObject({ sender: 'bot', state: 'final', text: 'hello' });
    expect(await messenger.driver.message(id)).toMatchObject({ state: 'sent', senderName: 'Lin Yue' });
    const [callback] = bot.callbacks;
    expect(callback).toEqual({
      msgid: id,
      aibotid: 'AIBOT1',
      chattype: 'single',
      from: { userid: 'lin' },
      response_url: expect.stringContaining(`${messenger.url}/cgi-bin/aibot/response?response_code=`),
      msgtype: 'text',
      text: { content: 'hi there' },
    });
  });

  test('include a group text only if it mentions the bot, with the mention', async () => {
    bot.script = ({ msgid }) => stream(`s-${msgid}`, 'ok', true);
    const silent = await messenger.driver.send('lin', { text: 'lunch?', conversation: { group: 'wrLab' } });
    expect(silent.state).toBe('sent');
    const asked = await messenger.driver.send('lin', {
      text: 'lunch?',
      conversation: { group: 'wrLab' },
      mention: true,
    });
    await messenger.driver.waitForAnswer(asked.id);
    expect(bot.callbacks).toHaveLength(1);
    expect(bot.callbacks[0]).toMatchObject({ chattype: 'group', chatid: 'wrLab', text: { content: '@Parley lunch?' } });
    expect((await messenger.driver.messages('ada', { group: 'wrLab' })).map(({ text }) => text)).toEqual([
      'lunch?',
      '@Parley lunch?',
      'ok',
    ]);
    await expect(messenger.driver.messages('omar', { group: 'wrLab' })).rejects.toMatchObject({ code: 'not_found' });
  });

  test('include images: one alone as image, with text as mixed, encrypted and valid for five minutes', async () => {
    const alone = await messenger.driver.send('lin', { text: '', images: [TINY_PNG] });
    await messenger.driver.send('lin', { text: 'what is it?', images: [TINY_PNG] });
    await until(() => bot.callbacks.length === 2, 'both were delivered');
    const image = bot.callbacks.find(({ msgid }) => msgid === alone.id);
    expect(image).toMatchObject({ msgtype: 'image' });
    const mixed = bot.callbacks.find(({ msgid }) => msgid !== alone.id);
    expect(mixed).toMatchObject({ msgtype: 'mixed', mixed: { msg_item: [{ msgtype: 'text' }, { msgtype: 'image' }] } });
    const url = image?.image?.url ?? '';
    const download = await got(url, { responseType: 'buffer' });
    expect(openMedia(decodeAesKey(AES_KEY), download.body)).toEqual(TINY_PNG);
    expect(download.headers['content-disposition']).toContain('image.png');
    const altered = await got(url.replace(/expires=\d+/, 'expires=99999999999999'), { throwHttpErrors: false });
    expect(altered.statusCode).toBe(404);
    clock.move(5 * 60_000 + 1_000);
    expect((await got(url, { throwHttpErrors: false })).statusCode).toBe(404);
  });

  test('include the quoted message', async () => {
    const first = await messenger.driver.send('lin', 'earlier words');
    await messenger.driver.send('lin', { text: 'and this?', quote: first.id });
    await until(() => bot.callbacks.length === 2, 'both were delivered');
    const quoting = bot.callbacks.find(({ msgid }) => msgid !== first.id);
    expect(quoting?.quote).toEqual({ msgtype: 'text', text: { content: 'earlier words' } });
  });

  test('have encrypted sender ids if the bot may not see the real ones [wecom-ids]', async () => {
    const hidden = await startAtTest({ redis: redis.redis, botUrl: bot.url, encryptUserIds: true });
    await hidden.driver.send('lin', 'who am I?');
    await until(() => bot.callbacks.length === 1, 'it was delivered');
    expect(bot.callbacks[0]?.from.userid).toMatch(/^wo[0-9a-f]{30}$/);
    await hidden.close();
  });

  test('can repeat the same message several times concurrently', async () => {
    bot.script = ({ msgid }) => stream(`s-${msgid}`, 'once', true);
    const { message, results } = await messenger.driver.deliver('lin', 'hello', 3);
    expect(results.map(({ kind }) => kind)).toEqual(['reply', 'reply', 'reply']);
    expect(new Set(bot.callbacks.map(({ msgid }) => msgid))).toEqual(new Set([message.id]));
    expect(await messenger.driver.redeliver(message.id, 2)).toHaveLength(2);
    expect(bot.callbacks).toHaveLength(5);
  });
});

describe('deliveries that the bot does not answer [wecom-streams]', () => {
  const impatient = async () => {
    await messenger.close();
    const timing = { answerTimeoutMs: 250, retryAfterMs: 250 };
    messenger = await startAtTest({ redis: redis.redis, botUrl: bot.url, timing });
  };

  test('are repeated after a time-out with the same msgid, up to three attempts', async () => {
    await impatient();
    let attempts = 0;
    bot.script = ({ msgid }) => ((attempts += 1) < 3 ? 'hang' : stream(`s-${msgid}`, 'at last', true));
    const { id } = await messenger.driver.send('lin', 'hello?');
    expect(await messenger.driver.waitForAnswer(id)).toMatchObject({ text: 'at last' });
    expect(bot.callbacks.map(({ msgid }) => msgid)).toEqual([id, id, id]);
  });

  test('fail after three attempts, and can be sent again as the same delivery', async () => {
    await impatient();
    bot.script = () => 'hang';
    const { id } = await messenger.driver.send('lin', '有人吗');
    await expect(messenger.driver.waitForAnswer(id)).rejects.toMatchObject({ code: 'not_delivered' });
    expect(bot.callbacks).toHaveLength(3);
    expect(await messenger.driver.message(id)).toMatchObject({ state: 'failed', error: '无法连接机器人。' });
    bot.script = ({ msgid }) => stream(`s-${msgid}`, 'here', true);
    await got.post(`${messenger.url}/api/messages/${id}/resend`, { json: { person: 'lin' } });
    expect(await messenger.driver.waitForAnswer(id)).toMatchObject({ text: 'here' });
  });

  test('are repeated after 503 only if the switch is on, and never after other refusals', async () => {
    let attempts = 0;
    bot.script = ({ msgid }) => ((attempts += 1) < 2 ? { status: 503 } : stream(`s-${msgid}`, 'stored now', true));
    const { id } = await messenger.driver.send('lin', 'hello');
    expect(await messenger.driver.waitForAnswer(id)).toMatchObject({ text: 'stored now' });
    bot.script = () => ({ status: 401 });
    const refused = await messenger.driver.send('lin', 'hello');
    await expect(messenger.driver.waitForAnswer(refused.id)).rejects.toMatchObject({ code: 'not_delivered' });
    expect(bot.callbacks.filter(({ msgid }) => msgid === refused.id)).toHaveLength(1);

    const strict = await startAtTest({ redis: redis.redis, botUrl: bot.url, retryOn503: false });
    bot.script = () => ({ status: 503 });
    const once = await strict.driver.send('lin', 'hello');
    await expect(strict.driver.waitForAnswer(once.id)).rejects.toMatchObject({ code: 'not_delivered' });
    expect(bot.callbacks.filter(({ msgid }) => msgid === once.id)).toHaveLength(1);
    await strict.close();
  });

  test('are valid with an empty response, which shows no answer', async () => {
    const { id } = await messenger.driver.send('lin', 'hello');
    await until(async () => (await messenger.driver.message(id)).state === 'sent', 'it was sent');
    expect(await messenger.driver.answer(id)).toBeUndefined();
    expect(messenger.driver.violations()).toEqual([]);
  });

  test.each([
    ['an unsigned answer', { raw: '{"msgtype":"stream"}' }],
    ['a text, which is allowed only as a welcome', { msgtype: 'text', text: { content: 'hi' } }],
    ['an unknown type', { msgtype: 'poem' }],
    ['a stream without an id', { msgtype: 'stream', stream: { content: 'x', finish: true } }],
  ])('report %s as refused, visibly', async (_name, reply) => {
    bot.script = () => reply;
    const { id } = await messenger.driver.send('lin', 'hello');
    await expect(messenger.driver.waitForAnswer(id)).rejects.toMatchObject({ code: 'not_delivered' });
    expect(messenger.driver.violations()).toMatchObject([{ questionId: id }]);
    expect((await messenger.driver.messages('lin')).at(-1)).toMatchObject({ sender: 'system' });
  });
});

test('are refused if a person has three open messages', async () => {
  bot.script = (callback) => (callback.msgtype === 'stream' ? undefined : stream(`s-${callback.msgid}`, '…'));
  const sent = await Promise.all(['a', 'b', 'c'].map((text) => messenger.driver.send('lin', text)));
  await until(() => bot.messages().length === 3, 'three were delivered');
  const fourth = await messenger.driver.send('lin', 'd');
  expect(fourth).toMatchObject({ state: 'failed', error: expect.stringContaining('wait for the current answers') });
  expect((await messenger.driver.send('ada', 'hello')).state).toBe('sending');
  bot.script = ({ stream: polled }) => stream(polled?.id ?? '', 'done', true);
  await Promise.all(sent.map(({ id }) => messenger.driver.waitForAnswer(id)));
  expect((await messenger.driver.send('lin', 'e')).state).toBe('sending');
  expect(bot.messages().some(({ msgid }) => msgid === fourth.id)).toBe(false);
});

test.each([
  { text: '/stop' },
  { text: '停止' },
  { text: '／停止 ' },
  { text: '@Parley /help', conversation: { group: 'wrLab' } },
  { text: '停止 @Parley', conversation: { group: 'wrLab' } },
])('include a slash word next to three open messages: $text', async (said) => {
  bot.script = (callback) => (callback.msgtype === 'stream' ? undefined : stream(`s-${callback.msgid}`, '…'));
  await Promise.all(['a', 'b', 'c'].map((text) => messenger.driver.send('lin', text)));
  await until(() => bot.messages().length === 3, 'three were delivered');
  for (const text of ['停止播放', 'stop /stop', 'a fourth question'])
    expect((await messenger.driver.send('lin', text)).state).toBe('failed');
  bot.script = ({ msgid, stream: polled }) => stream(polled?.id ?? `s-${msgid}`, 'done', true);
  const { id } = await messenger.driver.send('lin', said);
  expect(await messenger.driver.waitForAnswer(id)).toMatchObject({ text: 'done' });
});

describe('mentions', () => {
  test.each([
    ['@Parley hi', true],
    ['hi @Parley', true],
    ['@Parley\u2005hi', true],
    ['@Parley你好', true],
    ['@Parley, hi', true],
    ['@Parleyman hi', false],
    ['@Parleyman and @Parley', true],
    ['Parley hi', false],
    ['@parley hi', false],
  ])('are found in %j: %s', (text, expected) => expect(mentionsBot(text, 'Parley')).toBe(expected));

  test('are found at any place and for any name', () => {
    fc.assert(
      fc.property(fc.string(), fc.string({ minLength: 1 }), fc.string(), (before, name, after) => {
        expect(mentionsBot(`${before}@${name} ${after}`, name)).toBe(true);
        expect(mentionsBot(before.replaceAll('@', ''), name)).toBe(false);
      }),
    );
  });
});
