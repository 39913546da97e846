import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { got } from 'got';
import type { Messenger } from '../../src/simulator/start-messenger.ts';
import { movableClock, until } from './messenger-at-test.ts';
import { callApi, startSlackAtTest } from './slack-at-test.ts';
import { startStandInSlackBot, type StandInSlackBot } from './stand-in-slack-bot.ts';
import { useTestRedis } from '../support/use-test-redis.ts';

const redis = useTestRedis();
let bot: StandInSlackBot;
let messenger: Messenger;
const clock = movableClock();
const group = { group: 'wrLab' };

beforeEach(async () => {
  await redis.redis.flushall();
  bot = await startStandInSlackBot();
  messenger = await startSlackAtTest({ redis: redis.redis, botUrl: bot.url, nowMs: clock.nowMs });
});
afterEach(async () => {
  await messenger.close();
  await bot.close();
});

const driver = () => messenger.driver;
const untilForms = (count: number) => until(() => bot.forms.length >= count, `${count} commands`);
const respond = (json: object) =>
  got.post(bot.forms.at(-1)?.['response_url'] ?? '', { json, throwHttpErrors: false, retry: { limit: 0 } });
const textsOf = async (person: string) => (await driver().messages(person, group)).map(({ text }) => text);

describe('a message that begins with a slash', () => {
  test.each([
    { text: '/help', says: /“\/help” is not a command here.*send the word without/ },
    { text: '/停止', says: /没有“\/停止”这个命令/ },
    { text: '/ help', says: /not a command/ },
  ])('is refused unless an app has registered it: $text', async ({ text, says }) => {
    const said = await driver().send('lin', text);
    expect(said).toMatchObject({ state: 'failed', error: expect.stringMatching(says) });
    const again = await got.post(`${messenger.url}/api/messages/${said.id}/resend`, { json: { person: 'lin' } });
    expect(JSON.parse(again.body)).toMatchObject({ state: 'failed' });
    expect([bot.events.length, bot.forms.length]).toEqual([0, 0]);
  });

  test('is a normal message behind a space or a mention', async () => {
    await driver().send('lin', ' /help');
    await driver().send('lin', { text: '/help', conversation: group, mention: true });
    await until(() => bot.events.length === 3, 'both were told');
    expect(bot.forms).toEqual([]);
  });

  test("is sent once as a signed form if it is the app's own command, and is not a message of the channel", async () => {
    const said = await driver().send('lin', { text: '/parley think  high', conversation: group });
    await untilForms(1);
    const [form] = bot.forms;
    expect(form).toMatchObject({ command: '/parley', text: 'think  high', team_id: expect.stringMatching(/^T/) });
    expect(said.state).toBe('sent');
    const history = await callApi(messenger, 'conversations.history', { channel: form?.['channel_id'] });
    expect(history.body['messages']).toEqual([]);
    expect(await textsOf('ada')).toEqual([]);
    expect((await driver().conversations('ada')).find(({ kind }) => kind === 'group')).toMatchObject({
      unread: 0,
      lastLine: '',
    });
  });

  test('is shown as failed if the app does not accept it, and sent again on request', async () => {
    bot.commandStatus = 503;
    const { id } = await driver().send('lin', '/parley help');
    await until(async () => (await driver().message(id)).state === 'failed', 'it failed');
    bot.commandStatus = 200;
    await got.post(`${messenger.url}/api/messages/${id}/resend`, { json: { person: 'lin' } });
    await untilForms(2);
    expect((await driver().message(id)).state).toBe('sent');
  });
});

describe('the response address of a command', () => {
  const blocks = [{ type: 'markdown', text: 'for **you**' }];

  test('shows its answer to the sender of the command, or to all who are online', async () => {
    const { id } = await driver().send('lin', { text: '/parley help', conversation: group });
    await untilForms(1);
    expect((await respond({ response_type: 'ephemeral', text: 'for you', blocks })).statusCode).toBe(200);
    expect(await driver().waitForAnswer(id)).toMatchObject({ sender: 'bot', state: 'final', text: 'for **you**' });
    expect(await textsOf('ada')).toEqual([]);
    await respond({ response_type: 'in_channel', text: 'for *all*' });
    expect(await textsOf('ada')).toEqual(['for **all**']);
    expect(await textsOf('lin')).toEqual(['/parley help', 'for **you**', 'for **all**']);
  });

  test('works five times within half an hour, and accepts any valid message', async () => {
    await driver().send('lin', '/parley help');
    await untilForms(1);
    expect((await respond({})).statusCode).toBe(400);
    expect(driver().violations()).toMatchObject([{ reason: 'response_url: no_text' }]);
    const statuses: number[] = [];
    for (let use = 0; use < 6; use += 1) statuses.push((await respond({ text: `answer ${use}` })).statusCode);
    expect(statuses).toEqual([200, 200, 200, 200, 200, 404]);
    await driver().send('lin', '/parley help');
    await untilForms(2);
    clock.move(31 * 60_000);
    expect((await respond({ text: 'too late' })).statusCode).toBe(404);
  });
});
