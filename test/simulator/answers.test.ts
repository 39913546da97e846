import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createHash } from 'node:crypto';
import { got } from 'got';
import type { Messenger } from '../../src/simulator/start-messenger.ts';
import { splitThinking } from '../../src/simulator/wecom/read-reply.ts';
import { movableClock, startAtTest, TINY_PNG, until } from './messenger-at-test.ts';
import { startStandInBot, stream, type Callback, type StandInBot } from './stand-in-bot.ts';
import { useTestRedis } from '../support/use-test-redis.ts';

const redis = useTestRedis();
let bot: StandInBot;
let messenger: Messenger;
let clock = movableClock();

beforeEach(async () => {
  await redis.redis.flushall();
  clock = movableClock();
  bot = await startStandInBot();
  messenger = await startAtTest({ redis: redis.redis, botUrl: bot.url, nowMs: clock.nowMs });
});
afterEach(async () => {
  await messenger.close();
  await bot.close();
});

const isPoll = ({ msgtype }: Callback) => msgtype === 'stream';

describe('growing answers [wecom-streams]', () => {
  test('are polled until they are final, and each snapshot is shown', async () => {
    const steps = ['', 'One', 'One two', 'One two three'];
    let polls = 0;
    bot.script = (callback) => {
      if (!isPoll(callback)) return stream('s1', '', false);
      polls += 1;
      return stream('s1', steps[polls] ?? '', polls === 3);
    };
    const { id } = await messenger.driver.send('lin', 'count');
    expect(await messenger.driver.waitForAnswer(id)).toMatchObject({ state: 'final', text: 'One two three' });
    expect(messenger.driver.trace(id)).toEqual({ polls: 3, snapshots: steps });
    const poll = bot.callbacks.find(isPoll);
    expect(poll).toMatchObject({ chattype: 'single', from: { userid: 'lin' }, stream: { id: 's1' } });
    expect(poll).not.toHaveProperty('response_url');
    expect(bot.callbacks.filter(isPoll)).toHaveLength(3);
  });

  test('keep waiting after a failed poll or white space', async () => {
    const replies = [{ status: 500 }, stream('s1', ' \n '), undefined, stream('s1', 'here', true)];
    bot.script = (callback) => (isPoll(callback) ? replies.shift() : stream('s1', '  '));
    const { id } = await messenger.driver.send('lin', 'hello');
    await until(() => replies.length === 1, 'three polls were made');
    expect(await messenger.driver.answer(id)).toMatchObject({ state: 'streaming', text: '' });
    expect(await messenger.driver.waitForAnswer(id)).toMatchObject({ text: 'here' });
    expect(messenger.driver.violations()).toEqual([]);
  });

  test('are shown in the list of conversations from their first words on', async () => {
    bot.script = (callback) => stream('s1', isPoll(callback) ? 'Please [sign in](https://a.example/link/x)' : '');
    await messenger.driver.send('lin', 'hello');
    const lastLine = async () => (await messenger.driver.conversations('lin'))[0]?.lastLine;
    await until(async () => (await lastLine())?.startsWith('Please') === true, 'the list has the first words');
  });

  test('keep thinking apart from the text', async () => {
    bot.script = (callback) =>
      isPoll(callback) ? stream('s1', '<think>searching</think>\n\nFound it', true) : stream('s1', '<think>waiting');
    const { id } = await messenger.driver.send('lin', 'hello');
    await until(async () => (await messenger.driver.answer(id))?.thinking === 'waiting', 'thinking is shown');
    expect(await messenger.driver.waitForAnswer(id)).toMatchObject({ text: 'Found it', thinking: 'searching' });
  });

  test('are refused above 20480 bytes, with a visible note', async () => {
    bot.script = (callback) => stream('s1', isPoll(callback) ? '字'.repeat(6_827) : '字'.repeat(6_826));
    const { id } = await messenger.driver.send('lin', 'long');
    expect(await messenger.driver.waitForAnswer(id)).toMatchObject({ state: 'failed' });
    expect(messenger.driver.violations()).toMatchObject([
      { questionId: id, reason: expect.stringContaining('20481 bytes') },
    ]);
    expect((await messenger.driver.messages('lin')).at(-1)).toMatchObject({ sender: 'system' });
  });

  test('end with a platform notice if they are not final after six minutes', async () => {
    bot.script = () => stream('s1', 'half an');
    const { id } = await messenger.driver.send('lin', 'hello');
    await until(async () => (await messenger.driver.answer(id)) !== undefined, 'it grows');
    clock.move(6 * 60_000);
    const answer = await messenger.driver.waitForAnswer(id);
    expect(answer).toMatchObject({ state: 'failed', text: 'half an' });
    const [, , note] = await messenger.driver.messages('lin');
    expect(note).toMatchObject({ sender: 'system', text: answer.error });
    expect(messenger.driver.violations()).toHaveLength(1);
    const pollsThen = bot.callbacks.length;
    await new Promise((resolve) => setTimeout(resolve, 60));
    expect(bot.callbacks).toHaveLength(pollsThen);
  });

  test('may have images with their md5, in the final snapshot only', async () => {
    const image = { base64: TINY_PNG.toString('base64'), md5: createHash('md5').update(TINY_PNG).digest('hex') };
    const items = { msg_item: [{ msgtype: 'image', image }] };
    bot.script = () => stream('s1', 'a dot', true, items);
    const good = await messenger.driver.send('lin', 'draw');
    const { images } = await messenger.driver.waitForAnswer(good.id);
    expect((await got(`${messenger.url}${images[0]?.url ?? ''}`, { responseType: 'buffer' })).body).toEqual(TINY_PNG);
    bot.script = () => stream('s2', 'a dot', false, items);
    const early = await messenger.driver.send('lin', 'draw');
    await expect(messenger.driver.waitForAnswer(early.id)).rejects.toMatchObject({ code: 'not_delivered' });
  });

  test('continue after a restart, and conversations survive', async () => {
    bot.script = () => stream('s1', 'half');
    const { id } = await messenger.driver.send('lin', 'hello');
    await until(async () => (await messenger.driver.answer(id))?.text === 'half', 'it grows');
    await messenger.close();
    bot.script = () => stream('s1', 'half and half', true);
    messenger = await startAtTest({ redis: redis.redis, botUrl: bot.url, nowMs: clock.nowMs });
    expect(await messenger.driver.waitForAnswer(id)).toMatchObject({ text: 'half and half' });
    expect((await messenger.driver.messages('lin')).map(({ text }) => text)).toEqual(['hello', 'half and half']);
  });

  test('are stored without readable message text in Redis', async () => {
    bot.script = () => stream('s1', 'UNMISTAKABLE-ANSWER', true);
    const { id } = await messenger.driver.send('lin', 'UNMISTAKABLE-QUESTION');
    await messenger.driver.waitForAnswer(id);
    const keys = await redis.redis.keys('*');
    const hashes = keys.filter((key) => key.startsWith('messenger:messages:'));
    expect(hashes).toHaveLength(1);
    const values = await redis.redis.hvals(hashes[0] ?? '');
    expect(values.length).toBe(2);
    expect(values.join()).not.toContain('UNMISTAKABLE');
  });

  test('leave the newest 500 messages in a conversation', async () => {
    for (let count = 0; count < 503; count += 1) {
      await messenger.driver.send('lin', { text: `line ${count}`, conversation: { group: 'wrLab' } });
    }
    expect(await redis.redis.hlen('messenger:messages:group-wrLab')).toBe(500);
    const shown = await messenger.driver.messages('ada', { group: 'wrLab' });
    expect([shown.length, shown[0]?.text, shown.at(-1)?.text]).toEqual([200, 'line 303', 'line 502']);
  });
});

describe('later answers by response_url [wecom-response-url]', () => {
  const markdown = (content: string) => ({ msgtype: 'markdown', markdown: { content } });
  const post = (url: string, json: object) => got.post(url, { json }).json<{ errcode: number }>();

  async function ask(conversation?: { group: string }): Promise<{ id: string; responseUrl: string }> {
    bot.script = ({ msgid }) => stream(`s-${msgid}`, 'see below', true);
    const { id } = await messenger.driver.send('lin', {
      text: 'hello',
      ...(conversation ? { conversation, mention: true } : {}),
    });
    await messenger.driver.waitForAnswer(id);
    return { id, responseUrl: bot.callbacks.find(({ msgid }) => msgid === id)?.response_url ?? '' };
  }

  test('can be sent once; the second of two concurrent ones is refused', async () => {
    const { responseUrl } = await ask();
    const results = await Promise.all([post(responseUrl, markdown('**A**')), post(responseUrl, markdown('**B**'))]);
    expect(results.map(({ errcode }) => errcode).sort()).toEqual([0, 40058]);
    expect((await messenger.driver.messages('lin')).filter(({ sender }) => sender === 'bot')).toHaveLength(2);
    expect(messenger.driver.violations()).toHaveLength(1);
  });

  test('quote the question in a group', async () => {
    const { responseUrl } = await ask({ group: 'wrLab' });
    expect(await post(responseUrl, markdown('late'))).toMatchObject({ errcode: 0 });
    const last = (await messenger.driver.messages('ada', { group: 'wrLab' })).at(-1);
    expect(last).toMatchObject({ text: 'late', quote: { senderName: 'Lin Yue', text: '@Parley hello' } });
  });

  test('are refused after an hour, above 20480 bytes, and unless they are markdown or cards', async () => {
    const { responseUrl } = await ask();
    expect(await post(responseUrl, markdown('x'.repeat(20_481)))).toMatchObject({ errcode: 45002 });
    expect(
      await post(responseUrl, { msgtype: 'stream', stream: { id: 's', content: 'x', finish: true } }),
    ).toMatchObject({
      errcode: 40058,
    });
    expect(await post(responseUrl, markdown('still unused'))).toMatchObject({ errcode: 0 });
    const other = await ask();
    clock.move(3_600_001);
    expect(await post(other.responseUrl, markdown('too late'))).toMatchObject({ errcode: 40058 });
  });
});

describe('the thinking block', () => {
  test.each([
    ['plain', { text: 'plain' }],
    ['<think>a</think>b', { thinking: 'a', text: 'b' }],
    [
      '<think>ℹ️ Stopped.\nℹ️ Answered by B.\n\na plan</think>b',
      { thinking: 'a plan', note: 'Stopped.\nAnswered by B.', text: 'b' },
    ],
    ['<think>a plan\n\nℹ️ Looking it up …', { thinking: 'a plan', note: 'Looking it up …', text: '' }],
    ['<think></think>', { text: '' }],
    ['<think>half', { thinking: 'half', text: '' }],
    ['code: <think>', { text: 'code: <think>' }],
    ['  \n', { text: '' }],
  ])('is separated from the text in %j', (content, expected) => expect(splitThinking(content)).toEqual(expected));

  test('is only read at the beginning: a later block stays in the text', () => {
    const inner = fc.string().filter((text) => !text.includes('</think>'));
    fc.assert(
      fc.property(inner, fc.string({ minLength: 1 }), (thinking, text) => {
        expect(splitThinking(`<think>${thinking}</think>\n${text}`).text).toBe(text.replace(/^\s+/, ''));
      }),
    );
  });
});
