import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { MINUTE_MS, SECOND_MS } from '../../src/shared/clock.ts';
import type { MessengerEvent } from '../../src/simulator/api.ts';
import { RateLimits } from '../../src/simulator/slack/rate-limits.ts';
import type { Messenger } from '../../src/simulator/start-messenger.ts';
import { movableClock, standingClock, until } from './messenger-at-test.ts';
import { callApi, callRaw, startSlackAtTest } from './slack-at-test.ts';
import { BOT_TOKEN, startStandInSlackBot, type StandInSlackBot } from './stand-in-slack-bot.ts';
import { useTestRedis } from '../support/use-test-redis.ts';

const redis = useTestRedis();
let bot: StandInSlackBot;
let messenger: Messenger;
let clock: ReturnType<typeof movableClock>;

const start = (more: Partial<Parameters<typeof startSlackAtTest>[0]> = {}) =>
  startSlackAtTest({ redis: redis.redis, botUrl: bot.url, nowMs: clock.nowMs, ...more });

beforeEach(async () => {
  clock = movableClock();
  await redis.redis.flushall();
  bot = await startStandInSlackBot();
  messenger = await start();
});
afterEach(async () => {
  await messenger.close();
  await bot.close();
});

const call = (method: string, args: object = {}) => callApi(messenger, method, args).then(({ body }) => body);
const reasons = () => messenger.driver.violations().map(({ reason }) => reason);

/** A person writes. Returns the place and the id of the message. */
async function said(text: string, where: 'private' | 'group' = 'private') {
  const group = where === 'group' ? { conversation: { group: 'wrLab' }, mention: true } : {};
  const message = await messenger.driver.send('lin', { text, ...group });
  const [channel = '', ts = ''] = message.id.split('-');
  return { message, channel, ts };
}
const shown = async (ts: unknown) => {
  const [own, group] = await Promise.all([
    messenger.driver.messages('lin'),
    messenger.driver.messages('lin', { group: 'wrLab' }),
  ]);
  return [...own, ...group].find(({ id }) => id.endsWith(String(ts)));
};

describe('the envelope of a call [slack-web-api]', () => {
  test('has ok:false with status 200 for failures, and the token is checked first', async () => {
    const without = await callApi(messenger, 'auth.test', {}, {});
    expect([without.status, without.body]).toEqual([200, { ok: false, error: 'not_authed' }]);
    const wrong = await callApi(messenger, 'auth.test', {}, { authorization: 'Bearer xoxb-other' });
    expect([wrong.status, wrong.body]).toEqual([200, { ok: false, error: 'invalid_auth' }]);
    expect(await call('auth.test')).toMatchObject({
      ok: true,
      user_id: expect.stringMatching(/^U/),
      bot_id: expect.stringMatching(/^B/),
    });
    expect(await call('chat.nothing')).toEqual({ ok: false, error: 'unknown_method' });
    expect(reasons()).toEqual(['auth.test: not_authed', 'auth.test: invalid_auth', 'chat.nothing: unknown_method']);
  });

  test('is JSON by its content type, otherwise a form, which may contain the token', async () => {
    const { channel } = await said('hi');
    const form = new URLSearchParams({ token: BOT_TOKEN, channel, markdown_text: 'a **form**' }).toString();
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    expect((await callRaw(messenger, 'chat.postMessage', form, headers)).body.ok).toBe(true);
    const authorization = `Bearer ${BOT_TOKEN}`;
    const json = { 'content-type': 'application/json', authorization };
    const broken = await callRaw(messenger, 'chat.postMessage', '{"channel"', json);
    expect(broken.body).toEqual({ ok: false, error: 'invalid_json' });
    const unnamed = await callRaw(messenger, 'chat.postMessage', '{}', { 'content-type': 'text/plain', authorization });
    expect(unnamed.body).toEqual({ ok: false, error: 'invalid_form_data' });
  });

  test('accepts the recorded calls of the official client (vectors/slack-outbound.json)', async () => {
    const { requests } = JSON.parse(
      readFileSync(new URL('../vectors/slack-outbound.json', import.meta.url), 'utf8'),
    ) as {
      requests: { path: string; content_type: string; raw_body: string }[];
    };
    const { channel, ts } = await said('hi', 'group');
    let streamTs = '';
    const known = requests.filter(({ path }) => !path.endsWith('setSuggestedPrompts'));
    for (const { path, content_type: contentType, raw_body: raw } of known) {
      const body = raw
        .replace(/channel(_id)?=[CD]1/, `channel$1=${channel}`)
        .replace('1760000000.000100', ts)
        .replace('1760000009.000100', streamTs);
      const answer = await callRaw(messenger, path.replace('/api/', ''), body, {
        'content-type': contentType,
        authorization: `Bearer ${BOT_TOKEN}`,
      });
      expect([path, answer.body.ok]).toEqual([path, true]);
      if (path.endsWith('startStream')) streamTs = answer.body.ts ?? '';
    }
    expect(await shown(streamTs)).toMatchObject({ text: 'edited' });
  });
});

describe('posts and edits [slack-web-api]', () => {
  test('need a text within the limit, of one kind, and a place', async () => {
    const { channel, ts } = await said('hi');
    const post = (args: object) => call('chat.postMessage', { channel, ...args });
    expect(await post({})).toMatchObject({ error: 'no_text' });
    expect(await post({ markdown_text: 'x'.repeat(12_001) })).toMatchObject({ error: 'msg_too_long' });
    expect(await post({ markdown_text: 'x'.repeat(12_000) })).toMatchObject({ ok: true });
    expect(await post({ markdown_text: 'a', text: 'b' })).toMatchObject({ error: 'markdown_text_conflict' });
    expect(await post({ channel: 'C404', markdown_text: 'a' })).toMatchObject({ error: 'channel_not_found' });
    expect(await post({ markdown_text: 'a', thread_ts: '1.000001' })).toMatchObject({ error: 'thread_not_found' });
    expect(await post({ markdown_text: 'a', thread_ts: Number(ts) })).toMatchObject({ error: 'invalid_arguments' });
    const reply = await post({ markdown_text: 'a', thread_ts: ts });
    expect(await post({ markdown_text: 'b', thread_ts: reply.ts })).toMatchObject({ error: 'cannot_reply_to_message' });
    expect(await post({ markdown_text: 'a', metadata: { event_type: 'x' } })).toMatchObject({
      error: 'invalid_metadata_format',
    });
  });

  test("read text as Slack's own markup, and markdown_text as markdown", async () => {
    const { channel } = await said('hi');
    const { ts } = await call('chat.postMessage', { channel, text: '*bold* ~gone~ <https://a.test|A> 1 &lt; 2' });
    expect((await shown(ts))?.text).toBe('**bold** ~~gone~~ [A](https://a.test) 1 < 2');
  });

  test('show markdown blocks as the text and context blocks apart, with text for notifications', async () => {
    const { channel } = await said('hi');
    const context = (type: string, text: string) => ({ type: 'context', elements: [{ type, text }] });
    const blocks = [{ type: 'markdown', text: '**all** of it' }, context('plain_text', 'a *b* <c>')];
    const { ts } = await call('chat.postMessage', { channel, text: 'all of it', blocks });
    expect(await shown(ts)).toMatchObject({ text: '**all** of it', note: 'a *b* <c>' });
    await call('chat.update', { channel, ts, blocks: [blocks[0], context('mrkdwn', '1 &lt; 2')] });
    expect(await shown(ts)).toMatchObject({ text: '**all** of it', note: '1 < 2' });
    await call('chat.update', { channel, ts, markdown_text: 'anew' });
    expect(await shown(ts)).toMatchObject({ text: 'anew' });
    expect(await shown(ts)).not.toHaveProperty('note');
  });

  test("enforce Slack's limits for blocks, which cannot be combined with markdown_text", async () => {
    const { channel } = await said('hi');
    const post = (blocks: unknown, more: object = {}) => call('chat.postMessage', { channel, blocks, ...more });
    const markdown = (chars: number) => ({ type: 'markdown', text: 'x'.repeat(chars) });
    expect(await post([markdown(1)], { markdown_text: 'a' })).toMatchObject({ error: 'markdown_text_conflict' });
    expect(await post([markdown(6_000), markdown(6_001)])).toMatchObject({ error: 'msg_blocks_too_long' });
    expect(await post([markdown(6_000), markdown(5_998)])).toMatchObject({ ok: true });
    expect(await post(Array.from({ length: 51 }, () => markdown(1)))).toMatchObject({ error: 'invalid_blocks' });
    for (const broken of ['x', [{ type: 'nothing' }], [{ type: 'context', elements: [] }], [{ type: 'markdown' }], [1]])
      expect(await post(broken)).toMatchObject({ error: 'invalid_blocks' });
    const note = { type: 'context', elements: [{ type: 'plain_text', text: 'x'.repeat(3_001) }] };
    expect(await post([note])).toMatchObject({ error: 'msg_blocks_too_long' });
    const calling = { type: 'context', elements: [{ type: 'mrkdwn', text: '<!here> look' }] };
    await post([markdown(1), calling]);
    expect(reasons()).toContain('the text mentions everyone');
  });

  test("go to the private chat if they name a person's id", async () => {
    await said('hi', 'group');
    await until(() => bot.events.length > 0);
    const user = bot.events[0]?.envelope.event['user'];
    const { channel, ts } = await call('chat.postMessage', { channel: user, markdown_text: 'psst' });
    expect(channel).toMatch(/^D/);
    expect(await shown(ts)).toMatchObject({ conversationId: 'private-lin', text: 'psst' });
  });

  test('replace the whole text, and the message counts as growing until it stays unchanged', async () => {
    const { channel } = await said('hi');
    const { ts } = await call('chat.postMessage', { channel, markdown_text: 'one' });
    expect(await call('chat.update', { channel, ts, markdown_text: 'one two' })).toMatchObject({ ok: true, ts });
    expect(await shown(ts)).toMatchObject({ text: 'one two', state: 'streaming' });
    await until(async () => (await shown(ts))?.state === 'final');
    expect(await call('chat.update', { channel, ts: '1.000001', markdown_text: 'x' })).toMatchObject({
      error: 'message_not_found',
    });
    const { ts: personsTs } = await said('mine');
    expect(await call('chat.update', { channel, ts: personsTs, markdown_text: 'x' })).toMatchObject({
      error: 'message_not_found',
    });
    expect(await call('chat.update', { channel, ts, text: 'x'.repeat(4_001) })).toMatchObject({
      error: 'msg_too_long',
    });
  });
});

describe('native streams [slack-web-api]', () => {
  const open = async (where: 'private' | 'group' = 'private') => {
    const { channel, ts: thread, message } = await said('hi', where);
    await until(() => bot.events.length > 0);
    const recipient = { recipient_user_id: bot.events[0]?.envelope.event['user'], recipient_team_id: 'T1' };
    const { ts } = await call('chat.startStream', { channel, thread_ts: thread, markdown_text: 'one', ...recipient });
    return { channel, ts, thread, message };
  };

  test('need a thread, and outside a private chat a recipient', async () => {
    const own = await said('hi');
    const start = (args: object) => call('chat.startStream', { markdown_text: 'x', ...args });
    expect(await start({ channel: own.channel })).toMatchObject({ error: 'invalid_arguments' });
    const { channel, ts } = await said('hi', 'group');
    expect(await start({ channel, thread_ts: ts })).toMatchObject({ error: 'missing_recipient_user_id' });
    expect(await start({ channel, thread_ts: ts, recipient_user_id: 'U1' })).toMatchObject({
      error: 'missing_recipient_team_id',
    });
    expect(await start({ channel, thread_ts: ts, recipient_user_id: 'U1', recipient_team_id: 'T1' })).toMatchObject({
      ok: true,
    });
    expect(await start({ channel: own.channel, thread_ts: own.ts })).toMatchObject({ ok: true });
  });

  test('grow by appends, cannot be edited meanwhile, and are ended by a stop', async () => {
    const { channel, ts, message } = await open();
    await call('chat.appendStream', { channel, ts, markdown_text: ' two' });
    expect(await call('chat.update', { channel, ts, markdown_text: 'x' })).toMatchObject({
      error: 'cant_update_message',
    });
    expect(await call('chat.appendStream', { channel, ts })).toMatchObject({ error: 'no_text' });
    expect(await shown(ts)).toMatchObject({ text: 'one two', state: 'streaming', thread: { rootId: message.id } });
    await call('chat.stopStream', { channel, ts, markdown_text: ' three' });
    expect(await messenger.driver.waitForAnswer(message.id)).toMatchObject({ text: 'one two three', state: 'final' });
    const after = { error: 'message_not_in_streaming_state' };
    expect(await call('chat.appendStream', { channel, ts, markdown_text: 'x' })).toMatchObject(after);
    expect(await call('chat.stopStream', { channel, ts })).toMatchObject(after);
    expect(messenger.driver.trace(message.id).snapshots).toEqual(['one', 'one two', 'one two three']);
  });

  test('show the blocks of the stop apart, below the text', async () => {
    const { channel, ts, message } = await open();
    const blocks = [{ type: 'context', elements: [{ type: 'plain_text', text: 'Stopped.' }] }];
    await call('chat.stopStream', { channel, ts, markdown_text: ' two', blocks });
    expect(await messenger.driver.waitForAnswer(message.id)).toMatchObject({ text: 'one two', note: 'Stopped.' });
    expect(messenger.driver.trace(message.id).snapshots).toEqual(['one', 'one two']);
  });

  test('keep all concurrent appends in one order', async () => {
    const { channel, ts } = await open();
    await Promise.all(
      [...'abcdefgh'].map((letter) => call('chat.appendStream', { channel, ts, markdown_text: letter })),
    );
    expect([...((await shown(ts))?.text ?? '')].sort().join('')).toBe('abcdefgheno'.split('').sort().join(''));
  });

  test('end five minutes after their start despite appends, after which an edit is possible', async () => {
    const { channel, ts } = await open();
    clock.move(4 * MINUTE_MS);
    expect(await call('chat.appendStream', { channel, ts, markdown_text: ' two' })).toMatchObject({ ok: true });
    clock.move(1.2 * MINUTE_MS);
    expect(await call('chat.appendStream', { channel, ts, markdown_text: 'x' })).toMatchObject({
      error: 'message_not_in_streaming_state',
    });
    expect(await shown(ts)).toMatchObject({ text: 'one two', state: 'final' });
    expect(await call('chat.update', { channel, ts, markdown_text: 'one two three' })).toMatchObject({ ok: true });
    expect(await shown(ts)).toMatchObject({ text: 'one two three' });
    expect(reasons()).toEqual([]);
  });

  test('survive a restart of Slack', async () => {
    const { channel, ts } = await open();
    await messenger.close();
    messenger = await start();
    expect(await call('chat.appendStream', { channel, ts, markdown_text: ' two' })).toMatchObject({ ok: true });
    expect(await shown(ts)).toMatchObject({ text: 'one two', state: 'streaming' });
  });

  test("report the reader's Stop as stopped_by_user at the next append, and can still be ended", async () => {
    const { channel, ts, message } = await open();
    await messenger.driver.stop('lin', `${channel}-${ts}`);
    expect(await call('chat.appendStream', { channel, ts, markdown_text: 'x' })).toMatchObject({
      error: 'stopped_by_user',
    });
    expect(await call('chat.stopStream', { channel, ts })).toMatchObject({ ok: true });
    expect(await messenger.driver.answer(message.id)).toMatchObject({ text: 'one', state: 'final' });
  });

  test("are not required for Stop, which then sends the bot's stop word at the question", async () => {
    const { channel, ts } = await said('hi');
    const { ts: answer } = await call('chat.postMessage', { channel, markdown_text: 'growing' });
    await messenger.driver.stop('lin', `${channel}-${String(answer)}`);
    await until(() => bot.events.some(({ envelope }) => envelope.event.text === 'stop'));
    expect(bot.events.at(-1)?.envelope.event).not.toHaveProperty('thread_ts');
    expect(ts).not.toBe(answer);
  });
});

describe('looking up posts [slack-web-api]', () => {
  test('returns metadata only with include_all_metadata, replies oldest first, and history newest first', async () => {
    const { channel, ts } = await said('hi');
    const metadata = { event_type: 'answer', event_payload: { key: 'k1' } };
    const first = await call('chat.postMessage', { channel, thread_ts: ts, markdown_text: 'a', metadata });
    const second = await call('chat.postMessage', { channel, thread_ts: ts, markdown_text: 'b' });
    const other = await said('later');
    const read = async (method: string, args: object) =>
      (await call(method, { channel, ...args }))['messages'] as Record<string, unknown>[];
    const bare = await read('conversations.replies', { ts });
    expect(bare.map((one) => one['ts'])).toEqual([ts, first.ts, second.ts]);
    expect(bare[1]).toMatchObject({ metadata: { event_type: 'answer' }, thread_ts: ts, bot_id: expect.any(String) });
    expect(bare[1]?.['metadata']).not.toHaveProperty('event_payload');
    const whole = await read('conversations.replies', { ts, include_all_metadata: true });
    expect(whole[1]?.['metadata']).toEqual(metadata);
    const after = await read('conversations.replies', { ts, oldest: first.ts, inclusive: false });
    expect(after.map((one) => one['ts'])).toEqual([ts, second.ts]);
    const history = await read('conversations.history', {});
    expect(history.map((one) => one['ts'])).toEqual([other.ts, ts]);
    expect(await call('conversations.replies', { channel, ts: '1.000001' })).toMatchObject({
      error: 'thread_not_found',
    });
    const limited = await call('conversations.history', { channel, limit: 1 });
    expect(limited).toMatchObject({ has_more: true, messages: [{ ts: other.ts }] });
  });

  test('finds exactly the configured people by users.info', async () => {
    await said('hi');
    await until(() => bot.events.length > 0);
    const user = bot.events[0]?.envelope.event['user'];
    expect(await call('users.info', { user })).toMatchObject({
      user: { id: user, real_name: 'Lin Yue', is_bot: false },
    });
    expect(await call('users.info', { user: 'U404' })).toMatchObject({ error: 'user_not_found' });
  });

  test('returns the name of a channel by conversations.info, and none for a private chat', async () => {
    const group = await said('hi', 'group');
    expect(await call('conversations.info', { channel: group.channel })).toEqual({
      ok: true,
      channel: { id: group.channel, is_channel: true, is_im: false, name: 'Lab' },
    });
    const own = await said('hi');
    expect(await call('conversations.info', { channel: own.channel })).toMatchObject({
      error: 'missing_scope',
      needed: 'im:read',
    });
    expect(await call('conversations.info', { channel: 'C404' })).toMatchObject({ error: 'channel_not_found' });
    await messenger.close();
    messenger = await start({ scopes: ['im:read'] });
    expect(await call('conversations.info', { channel: own.channel })).toEqual({
      ok: true,
      channel: { id: own.channel, is_channel: false, is_im: true },
    });
  });
});

test('shows a status line until the bot posts, clears it, or its time ends [slack-assistant]', async () => {
  await messenger.close();
  messenger = await start({ timing: { statusLifeMs: 200 } });
  const { channel, ts } = await said('hi');
  const seen: string[] = [];
  const stream = await fetch(`${messenger.url}/api/people/lin/events`);
  const reading = (async () => {
    const decoder = new TextDecoder();
    for await (const chunk of stream.body as unknown as AsyncIterable<Uint8Array>)
      for (const [, data = ''] of decoder.decode(chunk).matchAll(/event: status\ndata: (.*)\n/g))
        seen.push((JSON.parse(data) as Extract<MessengerEvent, { name: 'status' }>['data']).text);
  })().catch(() => undefined);
  const status = (text: string) =>
    call('assistant.threads.setStatus', { channel_id: channel, thread_ts: ts, status: text });
  await status('is thinking…');
  await status('');
  await status('is reading…');
  await call('chat.postMessage', { channel, thread_ts: ts, markdown_text: 'a' });
  await status('is writing…');
  await until(() => seen.length === 6, 'all lines were taken away');
  expect(seen).toEqual(['is thinking…', '', 'is reading…', '', 'is writing…', '']);
  expect(await call('assistant.threads.setStatus', { channel_id: channel, status: 'x' })).toMatchObject({
    error: 'invalid_arguments',
  });
  await messenger.close();
  await reading;
  messenger = await start();
});

describe('rate limits [slack-web-api]', () => {
  test('refuse the 21st stream of a minute with 429 and Retry-After, and then accept it', async () => {
    await messenger.close();
    const standing = standingClock();
    messenger = await start({ rateFactor: 1, nowMs: standing.nowMs });
    const { channel, ts } = await said('hi');
    const open = () => callApi(messenger, 'chat.startStream', { channel, thread_ts: ts, markdown_text: 'x' });
    const answers = [];
    for (let count = 0; count < 21; count += 1) answers.push(await open());
    expect(answers.slice(0, 20).every(({ body }) => body.ok)).toBe(true);
    const refused = answers.at(-1);
    expect([refused?.status, refused?.body.error]).toEqual([429, 'ratelimited']);
    const waitSec = Number(refused?.headers['retry-after']);
    expect(waitSec).toBeGreaterThanOrEqual(1);
    expect(waitSec).toBeLessThanOrEqual(3);
    standing.move(waitSec * SECOND_MS);
    expect((await open()).status).toBe(200);
  });

  test('count posts by channel, and never refuse a caller that waited as requested', () => {
    let nowMs = 0;
    const limits = new RateLimits(1, () => nowMs);
    for (let count = 0; count < 5; count += 1) expect(limits.take('chat.postMessage', 'C1')).toBeUndefined();
    expect(limits.take('chat.postMessage', 'C2')).toBeUndefined();
    for (let count = 0; count < 100; count += 1) {
      const waitSec = limits.take('chat.postMessage', 'C1');
      expect(waitSec).toBeGreaterThanOrEqual(1);
      nowMs += (waitSec ?? 0) * SECOND_MS;
      expect(limits.take('chat.postMessage', 'C1')).toBeUndefined();
    }
  });
});
