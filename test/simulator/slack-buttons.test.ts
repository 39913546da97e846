import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { got } from 'got';
import { MINUTE_MS } from '../../src/shared/clock.ts';
import type { MessageView } from '../../src/simulator/api.ts';
import type { Messenger } from '../../src/simulator/start-messenger.ts';
import { movableClock, until } from './messenger-at-test.ts';
import { callApi, startSlackAtTest } from './slack-at-test.ts';
import { startStandInSlackBot, type StandInSlackBot } from './stand-in-slack-bot.ts';
import { useTestRedis } from '../support/use-test-redis.ts';

const redis = useTestRedis();
let bot: StandInSlackBot;
let messenger: Messenger;
let clock: ReturnType<typeof movableClock>;
const group = { group: 'wrLab' };

beforeEach(async () => {
  clock = movableClock();
  await redis.redis.flushall();
  bot = await startStandInSlackBot();
  messenger = await startSlackAtTest({ redis: redis.redis, botUrl: bot.url, nowMs: clock.nowMs });
  await until(() => messenger.driver.isBotReachable(), 'the bot is there');
});
afterEach(async () => {
  await messenger.close();
  await bot.close();
});

const driver = () => messenger.driver;
const call = (method: string, args: object = {}) => callApi(messenger, method, args).then(({ body }) => body);
const label = (text: string) => ({ type: 'plain_text', text });
const button = (action_id: string, more: object = {}) => ({ type: 'button', action_id, text: label('Stop'), ...more });
const actions = (...elements: object[]) => ({ type: 'actions', elements });
const thumb = (text: string, value: string) => ({ text: label(text), value });
const feedback = {
  type: 'feedback_buttons',
  action_id: 'parley_feedback',
  positive_button: thumb('Good', 'good:1'),
  negative_button: thumb('Bad', 'bad:1'),
};
const thumbs = { type: 'context_actions', elements: [feedback] };
const words = { type: 'markdown', text: 'At ten.' };

/** Lin asks, and the bot answers with blocks. */
async function answered(blocks: object[], where?: typeof group) {
  const said = await driver().send('lin', { text: 'When?', conversation: where, mention: where !== undefined });
  const [channel = '', ts = ''] = said.id.split('-');
  const posted = await call('chat.postMessage', { channel, thread_ts: ts, text: 'At ten.', blocks });
  expect(posted.error).toBeUndefined();
  return { id: `${channel}-${posted.ts}`, channel, ts: String(posted.ts), threadTs: ts };
}
const clicked = () => bot.clicks.at(-1)!;
const respond = (json: object) =>
  got.post(clicked().response_url, { json, throwHttpErrors: false, retry: { limit: 0 } });
const seenBy = (person: string, where?: typeof group) => driver().messages(person, where);
const press = (id: string, json: object) =>
  got.post(`${messenger.url}/api/messages/${id}/press`, { json, throwHttpErrors: false, responseType: 'json' });

describe('the buttons of the bot [slack-buttons]', () => {
  test('are shown below the text, and a press sends its data to the app once', async () => {
    const row = actions(button('parley_stop', { value: 'run-1', style: 'danger' }), button('parley_retry'));
    const { id, ts, threadTs, channel } = await answered([words, row]);
    const shown = await driver().message(id);
    expect([shown.text, shown.buttons?.flat().map(({ kind, style }) => [kind, style])]).toEqual([
      'At ten.',
      [
        ['button', 'danger'],
        ['button', undefined],
      ],
    ]);
    await driver().press('lin', id, 'parley_stop');
    expect(bot.clicks).toEqual([
      {
        type: 'block_actions',
        api_app_id: expect.stringMatching(/^A/),
        user: { id: expect.stringMatching(/^U/), username: 'lin', name: 'lin', team_id: expect.stringMatching(/^T/) },
        team: { id: expect.stringMatching(/^T/), domain: 'parley-local' },
        enterprise: null,
        is_enterprise_install: false,
        channel: { id: channel, name: 'directmessage' },
        container: { type: 'message', message_ts: ts, channel_id: channel, is_ephemeral: false, thread_ts: threadTs },
        message: expect.objectContaining({
          ...{ type: 'message', ts, thread_ts: threadTs },
          blocks: [
            { ...words, block_id: 'b0' },
            { ...row, block_id: 'b1' },
          ],
        }),
        state: { values: {} },
        response_url: expect.stringContaining(`${messenger.url}/actions/`),
        trigger_id: expect.any(String),
        actions: [
          {
            ...{ type: 'button', action_id: 'parley_stop', block_id: 'b1', value: 'run-1', text: label('Stop') },
            action_ts: expect.stringMatching(/^\d+\.\d{6}$/),
          },
        ],
      },
    ]);
    expect(driver().violations()).toEqual([]);
  });

  test('come with the end of a stream, an edit or an ephemeral message, and stay after an edit without buttons', async () => {
    const { channel, threadTs, ts, id } = await answered([words, actions(button('parley_stop'))]);
    const count = async () => (await driver().message(id)).buttons?.flat().length ?? 0;
    await call('chat.update', { channel, ts, text: 'At eleven.' });
    expect(await count()).toBe(1);
    await call('chat.update', { channel, ts, text: 'At eleven.', blocks: [] });
    expect([await count(), (await driver().message(id)).text]).toEqual([0, 'At eleven.']);
    await call('chat.update', { channel, ts, text: 'x', blocks: [words, thumbs] });
    expect(await count()).toBe(2);
    await call('chat.update', { channel, ts, markdown_text: 'At noon.' });
    expect(await count()).toBe(0);
    const stream = await call('chat.startStream', {
      ...{ channel, thread_ts: threadTs },
      chunks: [{ type: 'blocks', blocks: [actions(button('parley_stop'))] }],
    });
    const grown = { channel, ts: stream.ts };
    await call('chat.appendStream', { ...grown, markdown_text: 'Soon' });
    const streamed = () => driver().message(`${channel}-${stream.ts}`);
    expect((await streamed()).buttons?.flat()).toHaveLength(1);
    await call('chat.stopStream', { ...grown, blocks: [thumbs] });
    expect(await streamed()).toMatchObject({ text: 'Soon', state: 'final' });
    expect((await streamed()).buttons?.flat().map(({ kind }) => kind)).toEqual(['button', 'good', 'bad']);
  });

  test('include ratings: one stays pressed for its person until the other is pressed', async () => {
    const { id } = await answered([words, thumbs], group);
    const pressedFor = async (person: string) =>
      (await seenBy(person, group))
        .find((one) => one.id === id)
        ?.buttons?.flat()
        .map(({ isPressed }) => isPressed);
    await driver().rate('ada', id, 'good');
    expect(clicked().actions).toEqual([
      expect.objectContaining({ type: 'feedback_buttons', action_id: 'parley_feedback', value: 'good:1' }),
    ]);
    expect([await pressedFor('ada'), await pressedFor('lin')]).toEqual([
      [true, undefined],
      [undefined, undefined],
    ]);
    await driver().press('ada', id, 'bad:1');
    expect(await pressedFor('ada')).toEqual([undefined, true]);
    await expect(driver().rate('ada', id, 'withdrawn')).rejects.toMatchObject({ code: 'bad_request' });
  });

  test('report to the page if the bot does not accept a press', async () => {
    const { id } = await answered([words, actions(button('parley_stop')), thumbs]);
    for (const status of [500, 'hang'] as const) {
      bot.clickStatus = status;
      const refused = await press(id, { person: 'lin', button: 'good' });
      expect([refused.statusCode, refused.body]).toEqual([
        502,
        { error: expect.objectContaining({ code: 'not_taken' }) },
      ]);
    }
    expect(bot.clicks).toHaveLength(2);
    expect((await driver().message(id)).buttons?.flat().some(({ isPressed }) => isPressed)).toBe(false);
    bot.clickStatus = 200;
    expect((await press(id, { person: 'lin', button: 'Stop' })).statusCode).toBe(200);
    expect((await press(id, { person: 'lin', button: 'nothing' })).statusCode).toBe(404);
    expect((await press(id, { person: 'ada', button: 'Stop' })).statusCode).toBe(404);
    expect((await press(id, { person: 'lin' })).statusCode).toBe(400);
  });

  const long = (count: number) => 'x'.repeat(count);
  const icon = { type: 'icon_button', action_id: 'x', icon: 'trash', text: label('Delete') };
  const context = (...elements: object[]) => ({ type: 'context_actions', elements });
  test.each<[string, object[]]>([
    ['no element', [actions()]],
    ['26 elements', [actions(...Array.from({ length: 26 }, (_, index) => button(`a${index}`)))]],
    ['two with one action_id', [actions(button('a'), button('a'))]],
    [
      'two blocks with one block_id',
      [
        { ...thumbs, block_id: 'a' },
        { ...actions(button('a')), block_id: 'a' },
      ],
    ],
    ['a long block_id', [{ ...thumbs, block_id: long(256) }]],
    ['a long action_id', [actions(button(long(256)))]],
    ['a long value', [actions(button('a', { value: long(2_001) }))]],
    ['a long label', [actions(button('a', { text: label(long(76)) }))]],
    ['a label in markup', [actions(button('a', { text: { type: 'mrkdwn', text: 'Stop' } }))]],
    ['no label', [actions(button('a', { text: undefined }))]],
    ['an unknown style', [actions(button('a', { style: 'green' }))]],
    ['a long address', [actions(button('a', { url: long(3_001) }))]],
    ['a rating among the actions', [actions(feedback)]],
    ['a button among the context actions', [context(button('a'))]],
    [
      'six context actions',
      [context(...Array.from({ length: 6 }, (_, index) => ({ ...icon, action_id: `a${index}` })))],
    ],
    ['one rating', [context({ ...feedback, negative_button: undefined })]],
    ['a rating without a value', [context({ ...feedback, negative_button: { text: label('Bad') } })]],
    ['a rating with a long value', [context({ ...feedback, positive_button: thumb('Good', long(2_001)) })]],
    ['a rating with a long label', [context({ ...feedback, positive_button: thumb(long(76), 'good') })]],
    ['an unknown icon', [context({ ...icon, icon: 'heart' })]],
    ['an icon without a label', [context({ ...icon, text: undefined })]],
  ])('are refused like in Slack: %s', async (_name, blocks) => {
    const { channel } = await answered([words]);
    expect(await call('chat.postMessage', { channel, text: 'x', blocks })).toMatchObject({ error: 'invalid_blocks' });
    expect(
      driver()
        .violations()
        .map(({ reason }) => reason),
    ).toEqual(['chat.postMessage: invalid_blocks']);
  });

  test('are accepted up to their limits', async () => {
    const most = Array.from({ length: 25 }, (_, index) =>
      button(`${index}${long(250)}`, { value: long(2_000), text: label(long(75)), style: 'primary' }),
    );
    const { id } = await answered([words, actions(...most), { type: 'divider' }, context(feedback, icon)]);
    const kinds = (await driver().message(id)).buttons?.map((row) => row.map(({ kind }) => kind));
    expect(kinds?.map(({ length }) => length)).toEqual([25, 3]);
    expect(kinds?.[1]).toEqual(['good', 'bad', 'remove']);
  });
});

describe('the response address of a press [slack-buttons]', () => {
  test('shows, changes and removes a message that only its presser sees', async () => {
    const { id } = await answered([words, thumbs], group);
    await driver().press('ada', id, 'bad');
    const reasons = actions(button('parley_reason_1'), button('parley_reason_2', { text: label('Too short') }));
    const question = { response_type: 'ephemeral', replace_original: false, text: 'Why?' };
    const section = { type: 'section', text: { type: 'mrkdwn', text: 'Why?' } };
    expect((await respond({ ...question, blocks: [section, reasons] })).body).toBe('ok');
    const own = (await seenBy('ada', group)).at(-1)!;
    expect(own).toMatchObject({ text: 'Why?', isOnlyForYou: true });
    expect((await seenBy('lin', group)).at(-1)).toMatchObject({ id, isOnlyForYou: undefined });
    await expect(driver().press('lin', own.id, 'Too short')).rejects.toMatchObject({ code: 'not_found' });
    await driver().press('ada', own.id, 'Too short');
    expect(clicked().container).toMatchObject({ is_ephemeral: true, message_ts: own.id.split('-')[1] });
    expect([clicked().message, clicked().actions[0]?.['action_id']]).toEqual([undefined, 'parley_reason_2']);
    await respond({ replace_original: true, text: 'Thank you.' });
    // It is not a message of the channel, so these methods cannot change it.
    const [channel = '', ts = ''] = own.id.split('-');
    for (const method of ['chat.update', 'chat.delete'])
      expect(await call(method, { channel, ts, text: 'x' })).toMatchObject({ error: 'message_not_found' });
    const thanks = { id: own.id, text: 'Thank you.', buttons: undefined, isOnlyForYou: true };
    expect((await seenBy('ada', group)).at(-1)).toMatchObject(thanks);
    await respond({ delete_original: 'true' });
    expect((await seenBy('ada', group)).at(-1)).toMatchObject({ id });
  });

  test('changes the message for all, removes it, and posts to all', async () => {
    const { id } = await answered([words, actions(button('parley_retry'))], group);
    await driver().press('lin', id, 'parley_retry');
    await respond({ replace_original: true, text: 'At noon.', blocks: [{ type: 'markdown', text: 'At noon.' }] });
    expect((await seenBy('ada', group)).at(-1)).toMatchObject({ id, text: 'At noon.', buttons: undefined });
    await respond({ response_type: 'in_channel', text: 'Again.' });
    const said = (await seenBy('ada', group)).at(-1);
    const history = await call('conversations.history', { channel: id.split('-')[0] });
    expect([said?.text, said?.isOnlyForYou]).toEqual(['Again.', undefined]);
    expect((history['messages'] as { text: string }[]).map(({ text }) => text)).toContain('Again.');
    await respond({ delete_original: true });
    expect((await seenBy('ada', group)).find((one) => one.id === id)).toMatchObject({ isDeleted: true });
  });

  test('works five times within half an hour, and refuses what Slack refuses', async () => {
    const { id } = await answered([words, thumbs]);
    await driver().press('lin', id, 'good');
    expect((await respond({ text: 'x', blocks: [actions()] })).statusCode).toBe(400);
    for (let use = 0; use < 5; use += 1) expect((await respond({ text: `${use}` })).statusCode).toBe(200);
    expect((await respond({ text: '6' })).body).toBe('used_url');
    await driver().press('lin', id, 'good');
    clock.move(30 * MINUTE_MS);
    expect((await respond({ text: 'x' })).body).toBe('expired_url');
  });

  test('an ephemeral message may have buttons, and only its person receives it, if online', async () => {
    const { channel } = await answered([words], group);
    const [, user] = ['', String((await call('auth.test'))['user_id'])];
    await driver().press('lin', (await answered([words, thumbs], group)).id, 'good');
    const lin = clicked().user.id;
    const told = await call('chat.postEphemeral', {
      channel,
      user: lin,
      text: 'x',
      blocks: [words, actions(button('a'))],
    });
    expect(told['message_ts']).toMatch(/^\d+\.\d{6}$/);
    const note = (await seenBy('lin', group)).at(-1)!;
    expect(note).toMatchObject({ id: `${channel}-${String(told['message_ts'])}`, isOnlyForYou: true });
    await driver().press('lin', note.id, 'a');
    expect(clicked().container).toMatchObject({ is_ephemeral: true });
    expect(await call('chat.postEphemeral', { channel, user, text: 'x' })).toMatchObject({ error: 'user_not_found' });
    const own = (await answered([words])).channel;
    await driver().press('ada', (await answered([words, thumbs], group)).id, 'good');
    const outside = await call('chat.postEphemeral', { channel: own, user: clicked().user.id, text: 'x' });
    expect(outside).toMatchObject({ error: 'user_not_in_channel' });
  });
});

describe('suggested prompts and entries [slack-assistant]', () => {
  const promptsOf = async () => (await driver().conversations('lin')).find(({ kind }) => kind === 'private')?.prompts;

  test('tell the app the first entry as a new thread, and each entry as an opened home', async () => {
    await driver().enterChat('lin');
    await driver().enterChat('lin');
    await driver().enterChat('ada');
    const types = bot.entries.map(({ event }) => event.type);
    expect(types.filter((type) => type === 'app_home_opened')).toHaveLength(3);
    const [started, ...more] = bot.entries.filter(({ event }) => event.type === 'assistant_thread_started');
    expect(started?.event['assistant_thread']).toEqual({
      ...{ user_id: expect.stringMatching(/^U/), channel_id: expect.stringMatching(/^D/), context: {} },
      thread_ts: expect.stringMatching(/^\d+\.\d{6}$/),
    });
    expect(more).toHaveLength(1);
  });

  test("tell an app that asks for a person's language the one of their page", async () => {
    await driver().enterChat('lin');
    const user = String(bot.entries[0]?.event['user']);
    const locale = async (more: object) =>
      ((await call('users.info', { user, ...more }))['user'] as { locale?: string }).locale;
    expect(await locale({ include_locale: true })).toBeUndefined();
    const page = new AbortController();
    const headers = { 'accept-language': 'zh-CN,zh;q=0.9' };
    await fetch(`${messenger.url}/api/people/lin/events`, { headers, signal: page.signal });
    page.abort();
    expect([await locale({ include_locale: true }), await locale({})]).toEqual(['zh-CN', undefined]);
  });

  test('are reported for a person who came while the bot was away, once it is back', async () => {
    const port = Number(new URL(bot.url).port);
    await bot.close();
    await until(() => !driver().isBotReachable(), 'the bot is unavailable');
    await driver().enterChat('lin');
    bot = await startStandInSlackBot(port);
    await until(() => bot.entries.length === 2, 'both were told');
  });

  test('stay in the chat until its person writes, also over a restart', async () => {
    const { channel, threadTs } = await answered([words]);
    const prompts = [{ title: 'A', message: 'Do A' }];
    const set = (args: object) => call('assistant.threads.setSuggestedPrompts', { channel_id: channel, ...args });
    expect((await set({ thread_ts: threadTs, title: 'Try', prompts })).ok).toBe(true);
    expect(await promptsOf()).toEqual({ title: 'Try', items: prompts });
    expect(await set({ prompts: Array.from({ length: 5 }, () => prompts[0]) })).toMatchObject({
      error: 'invalid_arguments',
    });
    expect(await set({ prompts: [{ title: 'A' }] })).toMatchObject({ error: 'invalid_arguments' });
    expect(await set({ prompts: [] })).toMatchObject({ error: 'invalid_arguments' });
    await messenger.close();
    messenger = await startSlackAtTest({ redis: redis.redis, botUrl: bot.url, nowMs: clock.nowMs });
    expect((await promptsOf())?.items).toEqual(prompts);
    await driver().send('lin', 'Do A');
    expect(await promptsOf()).toBeUndefined();
  });
});

describe("a person's own message [slack-messages]", () => {
  const post = (id: string, what: string, json: object) =>
    got.post(`${messenger.url}/api/messages/${id}/${what}`, { json, throwHttpErrors: false, retry: { limit: 0 } });

  test('can be edited and deleted on the page by its writer only, and the bot is told', async () => {
    const said = await driver().send('lin', 'Wen?');
    expect(said.canAmend).toBe(true);
    expect((await post(said.id, 'edit', { person: 'ada', text: 'x' })).statusCode).toBe(404);
    expect((await post(said.id, 'edit', { person: 'lin', text: ' ' })).statusCode).toBe(400);
    const edited = await post(said.id, 'edit', { person: 'lin', text: 'When?' });
    expect(JSON.parse(edited.body)).toMatchObject({ text: 'When?', isEdited: true } satisfies Partial<MessageView>);
    expect((await post(said.id, 'remove', { person: 'lin' })).statusCode).toBe(204);
    const [gone] = await seenBy('lin');
    expect(gone).toMatchObject({ isDeleted: true, canAmend: undefined });
    expect((await post(said.id, 'edit', { person: 'lin', text: 'x' })).statusCode).toBe(404);
    const kinds = () => bot.events.flatMap(({ envelope }) => envelope.event['subtype'] ?? []);
    await until(() => kinds().length === 2, 'both were told');
    expect(kinds()).toEqual(['message_changed', 'message_deleted']);
  });
});
