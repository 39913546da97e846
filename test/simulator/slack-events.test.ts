import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { got } from 'got';
import { signEvent } from '../../src/simulator/slack/http-events.ts';
import { TsClock } from '../../src/simulator/slack/workspace.ts';
import { shownText, writtenText } from '../../src/simulator/slack/written-text.ts';
import type { Messenger } from '../../src/simulator/start-messenger.ts';
import { plainText } from '../../src/bot/platforms/slack/plain-text.ts';
import { movableClock, PEOPLE, TINY_PNG, until } from './messenger-at-test.ts';
import { startSlackAtTest } from './slack-at-test.ts';
import { BOT_TOKEN, startStandInSlackBot, type StandInSlackBot } from './stand-in-slack-bot.ts';
import { useTestRedis } from '../support/use-test-redis.ts';

interface SignatureVector {
  name: string;
  signing_secret: string;
  timestamp: string;
  signature: string;
  raw_body: string;
  expected: string;
}

const redis = useTestRedis();
let bot: StandInSlackBot;
let messenger: Messenger;
const clock = movableClock();

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
const untilEvents = (count: number) => until(() => bot.events.length >= count, `${count} events`);
const quiet = (ms = 150) => new Promise((resolve) => setTimeout(resolve, ms));

const { signature: vectors } = JSON.parse(
  readFileSync(new URL('../vectors/slack-inbound.json', import.meta.url), 'utf8'),
) as { signature: SignatureVector[] };

test.each(vectors.filter(({ expected }) => expected === 'accept'))(
  'the signature of vector $name equals the one of Slack [slack-deliveries]',
  (vector) => {
    expect(signEvent(vector.signing_secret, vector.timestamp, vector.raw_body)).toBe(vector.signature);
  },
);

test('an answer that has not begun is stopped at its question, and only by the person who asked', async () => {
  const said = await driver().send('lin', { text: '@Parley hi', conversation: { group: 'wrLab' } });
  const before = bot.events.length;
  await expect(driver().stop('ada', said.id)).rejects.toMatchObject({ code: 'not_found' });
  await driver().stop('lin', said.id);
  const isStop = ({ envelope }: (typeof bot.events)[number]) => /> \/?stop$/.test(envelope.event.text ?? '');
  await until(() => bot.events.slice(before).some(isStop), 'the bot is told to stop');
});

describe('events for the bot [slack-messages]', () => {
  test('contain a private text as one message of an im', async () => {
    const said = await driver().send('lin', 'hi <there> & @Ada Park');
    await untilEvents(1);
    await quiet();
    expect(bot.events).toHaveLength(1);
    const { event, ...envelope } = bot.events[0]?.envelope ?? { event: undefined };
    expect(envelope).toMatchObject({ type: 'event_callback', authorizations: [{ is_bot: true }] });
    expect(event).toMatchObject({ type: 'message', channel_type: 'im' });
    expect(event?.['channel']).toMatch(/^D[A-Z0-9]+$/);
    expect(event?.['user']).toMatch(/^U[A-Z0-9]+$/);
    expect(event?.text).toMatch(/^hi &lt;there&gt; &amp; <@U[A-Z0-9]+>$/);
    expect(event?.ts).toMatch(/^\d{10}\.\d{6}$/);
    expect(event).not.toHaveProperty('thread_ts');
    expect(said.id).toContain(event?.ts);
    expect(await driver().message(said.id)).toMatchObject({ state: 'sent' });
  });

  test('contain a channel mention as message and as app_mention, with the same ts and two event ids', async () => {
    await driver().send('lin', { text: 'lunch?', conversation: { group: 'wrLab' }, mention: true });
    await untilEvents(2);
    const [left, right] = bot.events.map(({ envelope }) => envelope);
    expect([left?.event.type, right?.event.type].sort()).toEqual(['app_mention', 'message']);
    expect(left?.event.ts).toBe(right?.event.ts);
    expect(left?.event_id).not.toBe(right?.event_id);
    const own = left?.authorizations[0]?.user_id ?? '';
    expect(left?.event.text).toBe(`<@${own}> lunch?`);
    expect(left?.event['channel']).toMatch(/^C[A-Z0-9]+$/);
  });

  test('contain a channel text without a mention as a message event only', async () => {
    await driver().send('lin', { text: '@Parleyman lunch?', conversation: { group: 'wrLab' } });
    await untilEvents(1);
    await quiet();
    expect(bot.events.map(({ envelope }) => envelope.event.type)).toEqual(['message']);
  });

  test('put a reply to a reply into the same thread', async () => {
    const root = await driver().send('lin', 'first');
    const reply = await driver().send('lin', { text: 'second', quote: root.id });
    const third = await driver().send('lin', { text: 'third', quote: reply.id });
    await untilEvents(3);
    const rootTs = root.id.split('-')[1];
    const threads = bot.events.map(({ envelope: { event } }) => [event.text, event['thread_ts']]);
    expect(Object.fromEntries(threads)).toEqual({ first: undefined, second: rootTs, third: rootTs });
    expect(third.thread).toEqual({ rootId: root.id, senderName: 'Lin Yue', text: 'first' });
    expect(third.quote).toBeUndefined();
  });

  test('refer to a file that needs the token; without it the response is a login page with status 200', async () => {
    await driver().send('lin', { text: 'what is it?', images: [TINY_PNG] });
    await untilEvents(1);
    const event = bot.events[0]?.envelope.event;
    expect(event).toMatchObject({ subtype: 'file_share', files: [{ mimetype: 'image/png', mode: 'hosted' }] });
    const file = event?.files?.[0] ?? {};
    for (const name of ['url_private', 'url_private_download']) {
      const address = String(file[name]);
      const headers = { authorization: `Bearer ${BOT_TOKEN}` };
      const fetched = await got(address, { headers, responseType: 'buffer' });
      expect(fetched.body).toEqual(TINY_PNG);
      const refused = await got(address, { headers: { authorization: 'Bearer xoxb-other' } });
      expect([refused.statusCode, refused.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    }
    expect(driver().violations()).toHaveLength(2);
  });
});

describe('repeated events [slack-deliveries]', () => {
  test('follow a 503 three times, numbered, with the reason, and otherwise identical', async () => {
    bot.script = (_event, attempt) => (attempt <= 3 ? 503 : 200);
    const said = await driver().send('lin', 'hi');
    await untilEvents(4);
    await quiet(300);
    expect(bot.events).toHaveLength(4);
    expect(bot.events.map(({ headers }) => headers['x-slack-retry-num'])).toEqual([undefined, '1', '2', '3']);
    expect(bot.events[3]?.headers['x-slack-retry-reason']).toBe('http_error');
    expect(new Set(bot.events.map(({ raw }) => raw)).size).toBe(1);
    expect(await driver().message(said.id)).toMatchObject({ state: 'sent' });
  });

  test('follow a missing acknowledgement too, while any 2xx counts as one', async () => {
    bot.script = (_event, attempt) => (attempt === 1 ? 'hang' : 204);
    await driver().send('lin', 'hi');
    await untilEvents(2);
    await quiet(300);
    expect(bot.events.map(({ headers }) => headers['x-slack-retry-reason'])).toEqual([undefined, 'http_timeout']);
  });

  test('are prevented by X-Slack-No-Retry', async () => {
    bot.script = () => ({ status: 500, headers: { 'x-slack-no-retry': '1' } });
    const said = await driver().send('lin', 'hi');
    await until(async () => (await driver().message(said.id)).state === 'failed');
    expect(bot.events).toHaveLength(1);
  });

  test('end with a message shown as not delivered, which can be sent again as the same event', async () => {
    bot.script = () => 401;
    const said = await driver().send('lin', 'hi');
    await until(async () => (await driver().message(said.id)).state === 'failed');
    const first = bot.events[0];
    bot.script = () => 200;
    await got.post(`${messenger.url}/api/messages/${said.id}/resend`, { json: { person: 'lin' } });
    await until(async () => (await driver().message(said.id)).state === 'sent');
    await untilEvents(5);
    expect(bot.events.at(-1)?.raw).toBe(first?.raw);
  });

  test('continue after a restart', async () => {
    bot.script = () => 'hang';
    const said = await driver().send('lin', 'hi');
    await untilEvents(1);
    await messenger.close();
    bot.script = () => 200;
    const before = bot.events.length;
    messenger = await startSlackAtTest({ redis: redis.redis, botUrl: bot.url, nowMs: clock.nowMs });
    await untilEvents(before + 1);
    expect(bot.events.at(-1)?.raw).toBe(bot.events[0]?.raw);
    expect(said.id).toContain(bot.events[0]?.envelope.event.ts);
  });
});

test('the bot counts as reachable once it answers a signed challenge', async () => {
  await until(() => driver().isBotReachable());
  const port = Number(new URL(bot.url).port);
  await bot.close();
  await until(() => !driver().isBotReachable());
  bot = await startStandInSlackBot(port);
  await until(() => driver().isBotReachable());
});

describe('texts of the Slack simulator', () => {
  const names = { directory: { people: PEOPLE }, bot: { name: 'Parley' } };

  test('are read by the bot as they were typed after escaping [slack-messages]', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.constantFrom('', '<!channel>', '&lt;', '<@U1>'), (text, mark) => {
        fc.pre(!text.includes('@'));
        const typed = text + mark;
        expect(plainText(writtenText(typed, names))).toBe(Buffer.from(typed).toString());
      }),
    );
  });

  test('contain a mention only up to the end of the name', () => {
    expect(writtenText('@Parley 你好', names)).toMatch(/^<@U\w+> 你好$/);
    expect(writtenText('@Parley你好', names)).toMatch(/^<@U\w+>你好$/);
    expect(writtenText('@Parleyman and @Parley_2', names)).toBe('@Parleyman and @Parley_2');
  });

  test('show broadcast mentions as such', () => {
    const workspace = { person: () => undefined } as unknown as Parameters<typeof shownText>[1];
    expect(shownText('<!channel> and <!here|here>', workspace, 'Parley')).toBe('@channel and @here');
  });

  test('message ids increase within a millisecond and when the clock goes back', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1_000_000_000_000, max: 1_000_000_000_020 })), (times) => {
        let index = 0;
        const ids = new TsClock(() => times[index++] ?? 0);
        const made = times.map(() => ids.next());
        expect([...made].sort()).toEqual(made);
        expect(new Set(made).size).toBe(made.length);
        expect(made.every((ts) => /^\d{10}\.\d{6}$/.test(ts))).toBe(true);
      }),
    );
  });
});

test('an edit or deletion of a message tells the bot the old and the new text [slack-messages]', async () => {
  const said = await driver().send('lin', 'one');
  await untilEvents(1);
  await driver().edit('lin', said.id, 'two');
  await expect(driver().edit('ada', said.id, 'three')).rejects.toMatchObject({ code: 'not_found' });
  await driver().remove('lin', said.id);
  const [first, edited, deleted] = bot.events.map(
    ({ envelope }) => envelope.event as unknown as Record<string, unknown>,
  );
  expect(edited).toMatchObject({
    ...{ subtype: 'message_changed', channel_type: 'im', message: { text: 'two', ts: first?.['ts'] } },
    previous_message: { text: 'one', user: first?.['user'] },
  });
  expect((edited?.['message'] as { edited: { ts: string } }).edited.ts).toMatch(/^\d{10}\.\d{6}$/);
  expect(deleted).toMatchObject({
    subtype: 'message_deleted',
    deleted_ts: first?.['ts'],
    previous_message: { text: 'two' },
  });
  expect(await driver().message(said.id)).toMatchObject({ text: 'This message was deleted.' });
});
