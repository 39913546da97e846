import { request } from 'node:http';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { got } from 'got';
import type { ConversationView, MessageView, MessengerEvent } from '../../src/simulator/api.ts';
import type { Messenger } from '../../src/simulator/start-messenger.ts';
import { startTestRedis, type TestRedis } from '../support/redis.ts';
import { movableClock, startAtTest, TINY_PNG, until } from './messenger-at-test.ts';
import { startStandInBot, stream, type StandInBot } from './stand-in-bot.ts';

let redis: TestRedis;
let bot: StandInBot;
let messenger: Messenger;
const clock = movableClock();
const pageDir = pathToFileURL(`${mkdtempSync(join(tmpdir(), 'parley-page-'))}/`);

beforeAll(async () => {
  writeFileSync(new URL('index.html', pageDir), '<!doctype html><title>Messenger</title>');
  writeFileSync(new URL('main.js', pageDir), 'let a;');
  redis = await startTestRedis();
});
afterAll(() => redis.stop());
beforeEach(async () => {
  await redis.redis.flushall();
  bot = await startStandInBot();
  messenger = await startAtTest({ redis: redis.redis, botUrl: bot.url, nowMs: clock.nowMs, pageDir });
});
afterEach(async () => {
  await messenger.close();
  await bot.close();
});

const api = got.extend({ throwHttpErrors: false, retry: { limit: 0 } });
const at = (path: string) => `${messenger.url}/api/${path}`;

/** Follows a person's events; `end` closes the connection. */
async function follow(person: string): Promise<{ events: MessengerEvent[]; end(): void }> {
  const events: MessengerEvent[] = [];
  const controller = new AbortController();
  const response = await fetch(at(`people/${person}/events`), { signal: controller.signal });
  expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/);
  const read = async () => {
    let text = '';
    for await (const chunk of response.body ?? []) {
      text += Buffer.from(chunk).toString();
      for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
        const [name, data] = text.slice(0, end).split('\n');
        if (name?.startsWith('event: ') && !/hello|beat/.test(name)) {
          events.push({ name: name.slice(7), data: JSON.parse(data?.slice(6) ?? '') as never } as MessengerEvent);
        }
        text = text.slice(end + 2);
      }
    }
  };
  read().catch(() => undefined);
  return { events, end: () => controller.abort() };
}

describe('the conversations of a page', () => {
  test('include people, conversations and slash words', async () => {
    expect(await api(at('bootstrap')).json()).toMatchObject({
      botName: 'Parley',
      protocol: 'wecom',
      people: [{ id: 'lin' }, { id: 'ada' }, { id: 'omar' }],
      slashWords: expect.arrayContaining([{ word: '/stop', help: { en: expect.any(String), zh: expect.any(String) } }]),
    });
    const conversations = await api(at('people/lin/conversations')).json<ConversationView[]>();
    expect(conversations).toMatchObject([
      { id: 'private-lin', kind: 'private', name: 'Parley', unread: 0, lastLine: '', lastAtMs: null },
      { id: 'group-wrLab', kind: 'group', name: 'Lab', members: [{ id: 'lin' }, { id: 'ada' }] },
    ]);
    expect(await api(at('people/omar/conversations')).json()).toHaveLength(1);
    expect((await api(at('people/nobody/conversations'))).statusCode).toBe(404);
  });

  test('show sending, growing, unread and read messages to all members', async () => {
    bot.script = (callback) =>
      callback.msgtype === 'stream' ? stream('s1', '**Yes**, two lines\nhere', true) : stream('s1', 'Yes');
    const lin = await follow('lin');
    const ada = await follow('ada');
    const sent = await api.post(at('conversations/group-wrLab/messages'), {
      json: { person: 'lin', text: '@Parley ok?', images: [] },
    });
    expect([sent.statusCode, (JSON.parse(sent.body) as MessageView).state]).toEqual([202, 'sending']);
    const isFinal = ({ name, data }: MessengerEvent) =>
      name === 'message' && data.sender === 'bot' && data.state === 'final';
    await until(() => lin.events.some(isFinal) && ada.events.some(isFinal), 'both saw the answer');
    const answers = ada.events.filter(
      ({ name, data }) => name === 'message' && 'sender' in data && data.sender === 'bot',
    );
    expect(answers.map(({ data }) => (data as MessageView).state)).toEqual(['streaming', 'final']);
    expect(answers.every(({ data }) => !('answer' in data))).toBe(true);
    const before = (await api(at('people/ada/conversations')).json<ConversationView[]>())[1];
    expect(before).toMatchObject({ unread: 2, lastLine: 'Parley: **Yes**, two lines here' });
    expect((await api.post(at('conversations/group-wrLab/read'), { json: { person: 'ada' } })).statusCode).toBe(204);
    await until(
      () => ada.events.some(({ name, data }) => name === 'conversation' && 'unread' in data && data.unread === 0),
      'read',
    );
    const messages = await api(at('conversations/group-wrLab/messages?person=ada')).json<MessageView[]>();
    expect(messages.map(({ sender, state }) => [sender, state])).toEqual([
      ['lin', 'sent'],
      ['bot', 'final'],
    ]);
    expect((await api(at('conversations/group-wrLab/messages?person=omar'))).statusCode).toBe(404);
    expect((await api(at('conversations/private-lin/messages?person=ada'))).statusCode).toBe(404);
    lin.end();
    ada.end();
  });

  test('refuse invalid requests with a reason', async () => {
    const post = (path: string, json: object) => api.post(at(path), { json });
    expect((await post('conversations/private-lin/messages', { person: 'lin', text: '  ' })).statusCode).toBe(400);
    expect((await post('conversations/private-lin/messages', { person: 'lin' })).statusCode).toBe(400);
    expect((await post('conversations/private-lin/messages', { person: 'ada', text: 'x' })).statusCode).toBe(404);
    expect((await post('messages/nothing/resend', { person: 'lin' })).statusCode).toBe(404);
    const broken = await api.post(at('frames'), { body: '{', headers: { 'content-type': 'application/json' } });
    expect([broken.statusCode, JSON.parse(broken.body)]).toEqual([
      400,
      { error: { code: 'bad_request', message: expect.any(String) } },
    ]);
  });
});

describe('events of the chat [wecom-events]', () => {
  test('include the first entry of a day, whose welcome is a system line', async () => {
    bot.script = () => ({ msgtype: 'text', text: { content: 'Welcome!' } });
    const enter = () => api.post(at('conversations/private-lin/read'), { json: { person: 'lin' } });
    await until(() => messenger.driver.isBotReachable(), 'the bot is there');
    await Promise.all([enter(), enter()]);
    await until(async () => (await messenger.driver.messages('lin')).length === 1, 'the welcome is shown');
    await enter();
    expect(await messenger.driver.messages('lin')).toMatchObject([{ sender: 'system', text: 'Welcome!' }]);
    expect(bot.callbacks).toMatchObject([
      { msgtype: 'event', event: { eventtype: 'enter_chat' }, from: { userid: 'lin' } },
    ]);
    clock.move(24 * 3_600_000);
    await messenger.driver.enterChat('lin');
    expect(bot.callbacks).toHaveLength(2);
  });

  test('include ratings of an answer with a feedback id', async () => {
    bot.script = ({ msgtype }) =>
      msgtype === 'event' ? undefined : stream('s1', 'x', true, { feedback: { id: 'fb-1' } });
    const { id } = await messenger.driver.send('lin', 'hello');
    const answer = await messenger.driver.waitForAnswer(id);
    expect(answer.canRate).toBe(true);
    const rate = (rating: string) =>
      api.post(at(`messages/${answer.id}/rate`), { json: { person: 'lin', rating } }).json<MessageView>();
    expect((await rate('bad')).rating).toBe('bad');
    expect((await rate('withdrawn')).rating).toBeUndefined();
    expect(
      bot
        .messages()
        .slice(1)
        .map(({ event }) => event?.feedback_event),
    ).toEqual([
      { id: 'fb-1', type: 2 },
      { id: 'fb-1', type: 3 },
    ]);
    expect((await api.post(at(`messages/${id}/rate`), { json: { person: 'lin', rating: 'good' } })).statusCode).toBe(
      400,
    );
  });

  test('tell the page whether the bot is reachable, and the bot about a new user once it is back', async () => {
    bot.script = () => ({ msgtype: 'text', text: { content: 'Welcome!' } });
    const { events, end } = await follow('lin');
    await until(() => messenger.driver.isBotReachable(), 'the bot is there');
    const port = Number(new URL(bot.url).port);
    await bot.close();
    await until(() => !messenger.driver.isBotReachable(), 'the bot is unavailable');
    await messenger.driver.enterChat('lin');
    bot = await startStandInBot(port);
    bot.script = () => ({ msgtype: 'text', text: { content: 'Welcome!' } });
    await until(async () => (await messenger.driver.messages('lin')).length === 1, 'the welcome is shown');
    const seen = events.flatMap((event) => (event.name === 'bot' ? [event.data.reachable] : []));
    expect(seen.slice(-3)).toEqual([true, false, true]);
    end();
  });
});

describe('images of the page', () => {
  test('are stored, shown again, and refused by size and type', async () => {
    const upload = (body: Buffer) => api.post(at('uploads'), { body, headers: { 'content-type': 'image/png' } });
    const kept = JSON.parse((await upload(TINY_PNG)).body) as { id: string; url: string };
    const image = await api(messenger.url + kept.url, { responseType: 'buffer' });
    expect([image.headers['content-type'], image.body.equals(TINY_PNG)]).toEqual(['image/png', true]);
    expect((await upload(Buffer.from('<svg onload=alert(1)>'))).statusCode).toBe(415);
    expect((await upload(Buffer.concat([TINY_PNG, Buffer.alloc(10 * 1024 * 1024)]))).statusCode).toBe(413);
    const sent = await api.post(at('conversations/private-lin/messages'), {
      json: { person: 'lin', text: '', images: [kept.id] },
    });
    expect((JSON.parse(sent.body) as MessageView).images).toEqual([{ url: kept.url, alt: '' }]);
    const unknown = await api.post(at('conversations/private-lin/messages'), {
      json: { person: 'lin', text: '', images: ['no'] },
    });
    expect(unknown.statusCode).toBe(404);
  });
});

describe('safety of the page', () => {
  test('includes a strict policy, and no files other than its own', async () => {
    const page = await api(messenger.url);
    expect(page.body).toContain('<title>Messenger</title>');
    expect(page.headers['content-security-policy']).toContain("default-src 'self'; frame-src http://127.0.0.1:*");
    expect((await api(`${messenger.url}/assets/main.js`)).headers['content-type']).toMatch(/^text\/javascript/);
    for (const path of ['/assets/..%2f..%2fpackage.json', '/assets/none.js', '/assets/%00.js', '/secret']) {
      expect((await api(messenger.url + path)).statusCode).toBe(404);
    }
  });

  test('includes refusal of other origins, and a redirect from other host names', async () => {
    const say = (headers: Record<string, string>) =>
      api.post(at('conversations/private-lin/messages'), { json: { person: 'lin', text: 'x' }, headers });
    expect((await say({ origin: 'https://evil.example' })).statusCode).toBe(403);
    expect((await say({ 'sec-fetch-site': 'same-site' })).statusCode).toBe(403);
    expect((await say({ host: 'evil.example' })).statusCode).toBe(403);
    expect((await say({ origin: messenger.url, 'sec-fetch-site': 'same-origin' })).statusCode).toBe(202);
    const moved = await api(`${messenger.url}/?person=lin`, {
      headers: { host: `localhost:${messenger.port}` },
      followRedirect: false,
    });
    expect([moved.statusCode, moved.headers.location]).toEqual([302, `${messenger.url}/?person=lin`]);
    for (const path of ['//evil.example/x', '//evil.example', '/\\\\evil.example/']) {
      const away = await redirectOf(messenger.port, path);
      expect([path, new URL(away, messenger.url).host]).toEqual([path, new URL(messenger.url).host]);
    }
    expect(await redirectOf(messenger.port, 'http://evil.example/x')).toMatch(new RegExp(`^${messenger.url}/`));
  });
});

/** The redirect target of a request whose path is sent unchanged. */
function redirectOf(port: number, path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const asked = request({ host: '127.0.0.1', port, path, headers: { host: 'localhost' } }, (response) => {
      response.resume();
      resolve(response.headers.location ?? '');
    });
    asked.on('error', reject).end();
  });
}
