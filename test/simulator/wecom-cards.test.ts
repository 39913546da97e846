import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { got } from 'got';
import type { MessageView } from '../../src/simulator/api.ts';
import { readCard } from '../../src/simulator/wecom/read-card.ts';
import type { Messenger } from '../../src/simulator/start-messenger.ts';
import { startAtTest, until } from './messenger-at-test.ts';
import { startStandInBot, stream, type StandInBot } from './stand-in-bot.ts';
import { RawBot, startConnected } from './wecom-connection-at-test.ts';
import { useTestRedis } from '../support/use-test-redis.ts';

const redis = useTestRedis();
let bot: StandInBot;
let messenger: Messenger;
const group = { group: 'wrLab' };
const title = { main_title: { title: 'Hello', desc: 'I am Parley' }, sub_title_text: 'Ask me something.' };
const leads = { type: 1, url: 'https://e.example/help' };
const welcome = {
  card_type: 'text_notice',
  ...title,
  card_action: leads,
  jump_list: [
    { type: 3, title: 'What can you do?', question: 'What can you do for me?' },
    { type: 1, title: 'Help', url: 'https://e.example' },
    { title: 'Nothing' },
  ],
};
const buttons = (task_id: string, more: object = {}) => ({
  card_type: 'button_interaction',
  ...{ main_title: { title: 'More?' }, task_id },
  button_list: [
    { text: 'Stop', key: 'stop', style: 3 },
    { text: 'Again', key: 'again', style: 1 },
  ],
  ...more,
});
const asCard = (template_card: object) => ({ msgtype: 'template_card', template_card });
const update = (template_card: object, more: object = {}) => ({
  ...{ response_type: 'update_template_card', template_card },
  ...more,
});

beforeEach(async () => {
  await redis.redis.flushall();
  bot = await startStandInBot();
  messenger = await startAtTest({ redis: redis.redis, botUrl: bot.url });
  await until(() => messenger.driver.isBotReachable(), 'the bot is there');
});
afterEach(async () => {
  await messenger.close();
  await bot.close();
});

const driver = () => messenger.driver;
const botMessage = async (person = 'lin', where?: typeof group) =>
  (await driver().messages(person, where)).findLast(({ sender }) => sender === 'bot')!;
const labels = ({ buttons: rows }: MessageView) => rows?.map((row) => row.map(({ label }) => label));
const reasons = () =>
  driver()
    .violations()
    .map(({ reason }) => reason);

/** Lin asks, and the bot answers with this reply. */
async function answered(reply: object, where?: typeof group) {
  const botMessages = async () =>
    (await driver().messages('lin', where)).filter(({ sender }) => sender === 'bot').length;
  const before = await botMessages();
  bot.script = () => reply;
  const said = await driver().send('lin', { text: 'x', conversation: where, mention: where !== undefined });
  const settled = async () =>
    (await driver().messages('lin', where)).some(({ id, state }) => id === said.id && state !== 'sending');
  await until(settled, 'the bot has answered');
  await until(async () => (await botMessages()) > before, 'the answer is shown');
  bot.callbacks.length = 0;
  return botMessage('lin', where);
}

describe('a template card [wecom-cards]', () => {
  test('welcomes a person who enters, and sends its questions as their own message', async () => {
    bot.script = () => asCard(welcome);
    await driver().enterChat('lin');
    const [card] = (await driver().messages('lin')) as [MessageView];
    expect(card).toMatchObject({
      sender: 'system',
      text: 'Hello\n\nI am Parley\n\nAsk me something.',
      card: { title: 'Hello', desc: 'I am Parley', text: 'Ask me something.', url: leads.url, isAlone: true },
    });
    expect(card.buttons?.flat()).toEqual([
      { id: 'jump:0', kind: 'button', label: 'What can you do?' },
      { id: 'jump:1', kind: 'button', label: 'Help', url: 'https://e.example' },
      { id: 'jump:2', kind: 'button', label: 'Nothing', isOff: true },
    ]);
    bot.callbacks.length = 0;
    bot.script = () => stream('s1', 'A lot.', true);
    await driver().press('lin', card.id, 'What can you do?');
    expect(bot.callbacks.length + (await driver().messages('lin')).length).toBeGreaterThan(1);
    const asked = (await driver().messages('lin')).find(({ sender }) => sender === 'lin')!;
    expect(asked.text).toBe('What can you do for me?');
    expect((await driver().waitForAnswer(asked.id)).text).toBe('A lot.');
    await driver().press('lin', card.id, 'Help');
    await expect(driver().press('lin', card.id, 'Nothing')).rejects.toMatchObject({ code: 'bad_request' });
    await expect(driver().press('ada', card.id, 'Help')).rejects.toMatchObject({ code: 'not_found' });
    expect(bot.callbacks.filter(({ msgtype }) => msgtype === 'event')).toEqual([]);
  });

  test('is shown below a growing answer, once', async () => {
    const both = (card: object, finish: boolean) => ({
      ...{ ...stream('s1', 'Half', finish), msgtype: 'stream_with_template_card' },
      template_card: card,
    });
    let polls = 0;
    bot.script = ({ msgtype }) => {
      if (msgtype !== 'stream') return both(buttons('T1'), false);
      return (polls += 1) < 2 ? stream('s1', 'Half', false) : both(buttons('T2'), true);
    };
    const { id } = await driver().send('lin', 'x');
    const answer = await driver().waitForAnswer(id);
    expect(answer).toMatchObject({ text: 'Half', card: { title: 'More?' } });
    expect(answer.card?.isAlone).toBeUndefined();
    expect(labels(answer)).toEqual([['Stop', 'Again']]);
    expect(reasons()).toEqual(['a second card for one message']);
  });

  test('reports a press to the bot once, and is replaced by the response', async () => {
    const card = await answered(asCard(buttons('T1')));
    bot.script = () => update({ ...welcome, task_id: 'T1', jump_list: [] });
    await driver().press('lin', card.id, 'again');
    expect(bot.callbacks).toEqual([
      expect.objectContaining({
        ...{ msgtype: 'event', chattype: 'single', from: { userid: 'lin' } },
        response_url: expect.stringContaining('/cgi-bin/aibot/response?response_code='),
        event: {
          eventtype: 'template_card_event',
          template_card_event: { card_type: 'button_interaction', event_key: 'again', task_id: 'T1' },
        },
      }),
    ]);
    expect(await driver().message(card.id)).toMatchObject({ card: { title: 'Hello' }, buttons: undefined });
    await expect(driver().press('lin', card.id, 'again')).rejects.toMatchObject({ code: 'not_found' });
    const later = await got.post(String(bot.callbacks[0]?.response_url), {
      json: { msgtype: 'markdown', markdown: { content: 'Here you are.' } },
    });
    expect(JSON.parse(later.body)).toMatchObject({ errcode: 0 });
    expect((await botMessage()).text).toBe('Here you are.');
    expect(reasons()).toEqual([]);
  });

  test('can be changed for some members of a group only', async () => {
    const card = await answered(asCard(buttons('T1')), group);
    bot.script = () => update({ ...buttons('T1'), main_title: { title: 'Yours' } }, { userids: ['ada'] });
    await driver().press('ada', card.id, 'stop');
    expect(bot.callbacks[0]).toMatchObject({ chattype: 'group', chatid: 'wrLab' });
    const seen = await Promise.all(['ada', 'lin'].map(async (who) => (await botMessage(who, group)).card?.title));
    expect(seen).toEqual(['Yours', 'More?']);
  });

  test.each<[string, object, string]>([
    ['another task', update(buttons('T2')), 'an update has another task_id than its card'],
    ['a response of another type', stream('s1', 'x', true), 'only an update may answer a press on a card'],
    ['an invalid card', update({ ...buttons('T1'), button_list: [] }), 'the card has no button'],
  ])('stays unchanged after %s', async (_name, reply, reason) => {
    const card = await answered(asCard(buttons('T1')));
    bot.script = () => reply;
    await driver().press('lin', card.id, 'stop');
    expect(labels(await driver().message(card.id))).toEqual([['Stop', 'Again']]);
    expect(reasons()).toEqual([reason]);
  });

  test('reports to the page if the bot does not accept a press', async () => {
    const card = await answered(asCard(buttons('T1')));
    bot.script = () => ({ status: 500 });
    const pressed = await got.post(`${messenger.url}/api/messages/${card.id}/press`, {
      json: { person: 'lin', button: 'Stop' },
      ...{ throwHttpErrors: false, retry: { limit: 0 } },
    });
    expect([pressed.statusCode, bot.callbacks.length]).toEqual([502, 1]);
    bot.script = () => undefined;
    await driver().press('lin', card.id, 'Stop');
    expect(bot.callbacks).toHaveLength(2);
  });

  test('has its own task', async () => {
    await answered(asCard(buttons('T1')));
    const second = await answered(asCard(buttons('T1')));
    expect([second.buttons, reasons()]).toEqual([undefined, ['the task_id is another card’s']]);
  });
});

describe('validation of a template card [wecom-cards]', () => {
  const long = (count: number) => 'x'.repeat(count);
  const options = (count: number) => Array.from({ length: count }, (_, index) => ({ id: `${index}`, text: 'x' }));
  const vote = (option_list: object[]) => ({
    ...buttons('T1'),
    card_type: 'vote_interaction',
    checkbox: { option_list },
  });
  const jump = (...list: object[]) => ({ ...welcome, jump_list: list });
  const pressable = (...list: object[]) => buttons('T1', { button_list: list });
  const one = { text: 'x', key: 'k' };

  test.each<[string, object, string]>([
    ['no type', { ...welcome, card_type: undefined }, 'the card has an unknown type'],
    ['another type', { ...welcome, card_type: 'letter' }, 'the card has an unknown type'],
    ['no text', { card_type: 'text_notice', card_action: leads }, 'the card has neither a title nor a text'],
    ['a notice without an action', { ...welcome, card_action: undefined }, 'a text_notice needs a card_action'],
    ['a notice that leads nowhere', { ...welcome, card_action: { type: 0 } }, 'the card_action has an unknown type'],
    ['an action without an address', { ...welcome, card_action: { type: 1 } }, 'the card_action has no url'],
    ['an action without a program', { ...welcome, card_action: { type: 2 } }, 'the card_action has no appid'],
    ['four jumps', jump(...options(4).map(() => ({ title: 'x' }))), 'the card has more than 3 of jump_list'],
    ['a jump without a title', jump({ type: 3, question: 'x' }), 'a jump has no title'],
    [
      'a long question',
      jump({ type: 3, title: 'x', question: `${long(198)}问` }),
      'a jump has no question of at most 200 bytes',
    ],
    ['no question', jump({ type: 3, title: 'x' }), 'a jump has no question of at most 200 bytes'],
    ['a jump without an address', jump({ type: 1, title: 'x' }), 'a jump has no url'],
    ['a jump without a program', jump({ type: 2, title: 'x' }), 'a jump has no appid'],
    ['an unknown jump type', jump({ type: 4, title: 'x' }), 'a jump has an unknown type'],
    ['no list', { ...welcome, jump_list: {} }, 'jump_list is not a list'],
    [
      'seven facts',
      { ...welcome, horizontal_content_list: options(7) },
      'the card has more than 6 of horizontal_content_list',
    ],
    [
      'five lines',
      { ...welcome, vertical_content_list: options(5) },
      'the card has more than 4 of vertical_content_list',
    ],
    ['buttons without a task', { ...buttons('T1'), task_id: undefined }, 'the card needs a task_id'],
    ['a menu without a task', { ...welcome, action_menu: { action_list: [one] } }, 'the card needs a task_id'],
    ['an empty menu', { ...welcome, task_id: 'T', action_menu: { action_list: [] } }, 'the menu has 1 to 3 actions'],
    ['a task with other letters', buttons('T 1'), 'the task_id has an invalid format'],
    ['a long task', buttons(long(129)), 'the task_id has an invalid format'],
    ['no button', pressable(), 'the card has no button'],
    ['seven buttons', pressable(...options(7)), 'the card has more than 6 of button_list'],
    ['two with one key', pressable(one, one), 'two buttons have the same key'],
    [
      'a long key',
      pressable({ text: 'x', key: `${long(1_022)}键` }),
      'a button has no text, or no key of at most 1,024 bytes',
    ],
    ['a button without a text', pressable({ key: 'k' }), 'a button has no text, or no key of at most 1,024 bytes'],
    ['an unknown style', pressable({ ...one, style: 5 }), 'a button has an unknown style'],
    ['too many choices', vote(options(21)), 'a choice has 1 to 20 options'],
    [
      'a choice without options',
      { ...buttons('T1'), select_list: [{ option_list: [] }] },
      'a choice has 1 to 10 options',
    ],
    ['a long option', vote([{ id: long(129) }]), 'an option has no id of at most 128 bytes'],
    ['a wide picture', { ...welcome, card_image: { aspect_ratio: 2.3 } }, 'the picture is too narrow or too wide'],
    ['nothing', {}, 'the card has an unknown type'],
  ])('refuses %s', (_name, card, refused) => {
    expect(readCard(card)).toEqual({ refused });
  });

  test.each<[string, object]>([
    [
      'three jumps with a question of 200 bytes',
      jump(...options(3).map(() => ({ type: 3, title: 'x', question: long(200) }))),
    ],
    [
      'six buttons with long keys',
      pressable(...options(6).map(({ id }) => ({ text: 'x', key: `${id}${long(1_023)}`, style: 4 }))),
    ],
    ['a long task', buttons(`${long(124)}_-@A`)],
    ['a menu', { ...welcome, task_id: 'T', action_menu: { action_list: [one] } }],
    ['a vote', vote(options(20))],
    ['a text without a title', { card_type: 'text_notice', sub_title_text: 'x', card_action: { type: 2, appid: 'a' } }],
    ['news', { card_type: 'news_notice', main_title: { title: 'x' }, card_image: { aspect_ratio: 1.3 } }],
  ])('accepts %s', (_name, card) => {
    expect(readCard(card)).toMatchObject({ card: { type: expect.any(String) } });
  });

  test('an invalid answer with a card is refused', async () => {
    bot.script = () => asCard({ ...buttons('T1'), task_id: undefined });
    const { id } = await driver().send('lin', 'x');
    await expect(driver().waitForAnswer(id)).rejects.toMatchObject({ code: 'not_delivered' });
    bot.script = () => asCard({ ...welcome, card_action: undefined });
    await driver().enterChat('lin');
    expect(reasons()).toEqual(['the card needs a task_id', 'a text_notice needs a card_action']);
  });
});

describe('a bad rating [wecom-events]', () => {
  test('has reasons and a text, which the bot receives where it was given', async () => {
    const answer = await answered(stream('s1', 'x', true, { feedback: { id: 'fb-1' } }), group);
    bot.script = () => undefined;
    const why = { reasons: ['incomplete', 'analysis'] as const, words: ' too short ' };
    expect(await driver().rate('ada', answer.id, 'bad', why)).toMatchObject({ rating: 'bad' });
    expect(bot.callbacks[0]).toMatchObject({
      ...{ chattype: 'group', chatid: 'wrLab', from: { userid: 'ada' } },
      event: { feedback_event: { id: 'fb-1', type: 2, content: 'too short', inaccurate_reason_list: [2, 4] } },
    });
    const rate = (json: object) =>
      got.post(`${messenger.url}/api/messages/${answer.id}/rate`, {
        json,
        throwHttpErrors: false,
        retry: { limit: 0 },
      });
    expect((await rate({ person: 'lin', rating: 'bad', reasons: ['wrong'] })).statusCode).toBe(200);
    expect(bot.callbacks[1]?.event?.feedback_event).toEqual({ id: 'fb-1', type: 2, inaccurate_reason_list: [3] });
    expect((await rate({ person: 'lin', rating: 'good', reasons: ['wrong'] })).statusCode).toBe(400);
    expect((await rate({ person: 'lin', rating: 'bad', reasons: ['dull'] })).statusCode).toBe(400);
  });
});

test('over the long connection a card is pressed, changed and asked from in the same way [wecom-cards]', async () => {
  const connected = await startConnected({ redis: redis.redis });
  const raw = await RawBot.subscribed(connected);
  try {
    const entering = connected.driver.enterChat('lin');
    await until(() => raw.events.length === 1, 'the entry is told');
    await raw.send('aibot_respond_welcome_msg', asCard(welcome), raw.events[0]?.headers.req_id);
    await entering;
    const [card] = await connected.driver.messages('lin');
    await connected.driver.press('lin', card!.id, 'What can you do?');
    await until(() => raw.messages.length === 1, 'the question is told');
    const reqId = raw.messages[0]!.headers.req_id;
    await raw.send('aibot_respond_msg', asCard(buttons('T1')), reqId);
    const shown = (await connected.driver.messages('lin')).at(-1)!;
    const pressing = connected.driver.press('lin', shown.id, 'Again');
    await until(() => raw.events.length === 2, 'the press is told');
    expect(raw.events[1]?.body?.event).toEqual({
      eventtype: 'template_card_event',
      template_card_event: { card_type: 'button_interaction', event_key: 'again', task_id: 'T1' },
    });
    const changed = update({ ...buttons('T1'), main_title: { title: 'Done' } });
    await raw.send('aibot_respond_update_msg', changed, raw.events[1]?.headers.req_id);
    expect((await pressing).card?.title).toBe('Done');
    const bad = asCard({ ...welcome, card_action: undefined });
    expect(await raw.send('aibot_respond_msg', bad, reqId)).not.toMatchObject({ errcode: 0 });
  } finally {
    raw.socket.terminate();
    await connected.close();
  }
});
