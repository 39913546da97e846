import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { startApp, type App } from '../../src/bot/app/app.ts';
import { connectRedis, type RedisClient } from '../../src/shared/redis/redis.ts';
import { pendingKey } from '../../src/bot/domain/partition-keys.ts';
import { freePort, type EmbeddedRedis } from '../../src/bot/app/local/embedded-redis.ts';
import { ALL_PARTITIONS } from '../../src/bot/domain/conversation.ts';
import { loadSettings } from '../../src/bot/config/load-settings.ts';
import { startScriptedChatServer, type Answer, type ScriptedChatServer } from '../bot/model/scripted-chat-server.ts';
import { startFakeSlack, type FakeSlack } from '../support/fake-slack.ts';
import { startParleyProcess, type ParleyProcess } from '../support/parley-process.ts';
import { registerEnvironment } from '../support/evidence/register-environment.ts';
import { recordingLog, startRedisServer } from '../support/redis.ts';
import { createSlackSender, type SlackSender } from '../support/slack-sender.ts';
import { untilTrue } from '../support/deployment.ts';

const SECRET = 'slack-signing-secret-0123456789';
const TOKEN = 'xoxb-journey-0123456789';

let redis: EmbeddedRedis;
let client: RedisClient;
let chat: ScriptedChatServer;
let slack: FakeSlack;
let env: Record<string, string>;
let sender: SlackSender;
let app: App | undefined;
const processes: ParleyProcess[] = [];

beforeAll(async () => {
  redis = await startRedisServer();
  client = connectRedis({ urls: [redis.url] }, 'wait', recordingLog().log, 'test');
  chat = await startScriptedChatServer();
}, 60_000);
afterAll(async () => {
  await chat.stop();
  client.disconnect();
  await redis.stop();
});
beforeEach(async () => {
  slack = await startFakeSlack(TOKEN);
  const port = await freePort();
  env = {
    PORT: String(port),
    HOST: '127.0.0.1',
    PUBLIC_URL: `http://127.0.0.1:${port}`,
    REDIS_URL: redis.url,
    SECRET_KEY: randomBytes(32).toString('base64'),
    CHAT_BASE_URL: chat.baseUrl,
    CHAT_API_KEY: 'sk-journey-0123456789',
    SIGN_IN: 'off',
    SLACK_SIGNING_SECRET: SECRET,
    SLACK_BOT_TOKEN: TOKEN,
    SLACK_API_URL: `${slack.apiUrl}/`,
    REPLY_MIN_EDIT_MS: '20',
    LOG_FORMAT: 'json',
    LOG_LEVEL: 'debug',
  };
  registerEnvironment(env);
  sender = createSlackSender(`http://127.0.0.1:${port}/webhooks/slack`, SECRET);
  chat.calls.splice(0);
  await client.flushall();
});
afterEach(async () => {
  await app?.close();
  app = undefined;
  for (const one of processes.splice(0)) {
    one.kill('SIGKILL');
    await one.ended;
  }
  await slack.close();
});

async function startBot(more: Record<string, string> = {}): Promise<void> {
  const settings = loadSettings({ env: { ...env, ...more }, cwd: process.cwd() });
  if (!settings.ok) throw new Error(settings.faults.map(({ message }) => message).join('\n'));
  const { log } = recordingLog();
  app = await startApp({
    config: settings.config,
    secrets: settings.secrets,
    log,
    onFatal: (words) => log.fatal(words),
  });
}

const chunk = (delta: object, reason: string | null = null) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'svc-plus', choices: [{ index: 0, delta, finish_reason: reason }] })}\n\n`;
/** Streams the words of a text one by one. */
const says =
  (text: string, everyMs = 5): Answer =>
  async (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const word of text.split(/(?<= )/)) {
      response.write(chunk({ content: word }));
      await new Promise((resolve) => setTimeout(resolve, everyMs));
    }
    response.end(`${chunk({}, 'stop')}data: [DONE]\n\n`);
  };
const textsIn = (channel: string) =>
  slack.messages.filter((message) => message.channel === channel).map(({ text }) => text);
/** Waits until the bot's messages of a channel are exactly these. */
const untilShown = async (channel: string, texts: string[], limitMs?: number) => {
  const isShown = () => JSON.stringify(textsIn(channel)) === JSON.stringify(texts);
  await untilTrue(isShown, limitMs).catch(() => expect(textsIn(channel)).toEqual(texts));
};
/** Waits until no turn of any conversation waits or runs, so that all questions are in the history. */
const untilIdle = () =>
  untilTrue(async () => {
    const waiting = await Promise.all(ALL_PARTITIONS.map((partition) => client.zcard(pendingKey(partition))));
    return waiting.every((count) => count === 0);
  });
const promptOf = (index: number) => {
  const messages = chat.calls[index]?.body['messages'] as { role: string; content: string }[];
  return messages.filter(({ role }) => role !== 'system').map(({ content }) => content);
};

describe.each(['stream', 'edit'])('Slack with SLACK_REPLY=%s', (reply) => {
  test('answers a private question once, in one growing message, and includes it in the next prompt', async () => {
    await startBot({ SLACK_REPLY: reply });
    chat.script(says('The library opens at eight.'));
    await sender.direct('U1', 'When does the library open?');
    await untilShown('DU1', ['The library opens at eight.']);
    await untilIdle();
    expect(slack.messages[0]?.snapshots.length).toBeGreaterThan(1);
    chat.script(says('At ten.'));
    await sender.direct('U1', 'And when does it close?');
    await untilShown('DU1', ['The library opens at eight.', 'At ten.']);
    expect(promptOf(1)).toEqual([
      'When does the library open?',
      'The library opens at eight.',
      'And when does it close?',
    ]);
  });

  test('treats a mention that arrives as two events, each three times, as one question with one answer in its thread', async () => {
    await startBot({ SLACK_REPLY: reply });
    chat.script(says('Hello all.'));
    const event = { channel: 'C1', user: 'U1', text: '<@UBOT> hi', ts: '1760000900.000100' };
    const kinds = [{ type: 'app_mention' }, { type: 'message', channel_type: 'channel' }];
    const statuses = await Promise.all(
      [...kinds, ...kinds, ...kinds].map((kind) => sender.event({ ...kind, ...event })),
    );
    expect(statuses).toEqual([200, 200, 200, 200, 200, 200]);
    await untilShown('C1', ['Hello all.']);
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(textsIn('C1')).toEqual(['Hello all.']);
    expect(slack.messages[0]?.threadTs).toBe('1760000900.000100');
    expect(chat.calls.length).toBe(1);
  });

  test('continues the conversation in the thread of an answer, and keeps other threads apart', async () => {
    await startBot({ SLACK_REPLY: reply });
    chat.script(says('Blue.'));
    const root = await sender.mention({ channel: 'C2', userId: 'U1' }, 'What colour is the sky?');
    await untilShown('C2', ['Blue.']);
    await untilIdle();
    chat.script(says('Because of scattering.'));
    await sender.mention({ channel: 'C2', userId: 'U2', threadTs: root }, 'Why?');
    await untilShown('C2', ['Blue.', 'Because of scattering.']);
    expect(promptOf(1).join('\n')).toContain('What colour is the sky?');
    chat.script(says('What?'));
    await sender.mention({ channel: 'C2', userId: 'U2', threadTs: '1750000000.000100' }, 'Why?');
    await untilShown('C2', ['Blue.', 'Because of scattering.', 'What?']);
    expect(promptOf(2).join('\n')).not.toContain('sky');
  });
});

// Both modes run concurrently, each with its own Redis, since a dead worker is noticed only when its lock expires.
test('when a worker is killed during a Slack answer, the next one continues in the same message, with stream and with edit', async () => {
  chat.script(says('one two three four five six seven eight nine ten '.repeat(6).trim(), 40));
  const bots = await Promise.all(
    ['stream', 'edit'].map(async (reply, index) => {
      const port = await freePort();
      const own = { ...env, PORT: String(port), REDIS_URL: redis.url.replace(/0$/, String(index)), SLACK_REPLY: reply };
      const start = async () => {
        const started = await startParleyProcess({ env: own, until: /is running|has started/ });
        processes.push(started);
        return started;
      };
      return {
        start,
        person: `U-${reply}`,
        sender: createSlackSender(`http://127.0.0.1:${port}/webhooks/slack`, SECRET),
      };
    }),
  );
  await Promise.all(
    bots.map(async ({ start, person, sender: own }) => {
      const first = await start();
      await own.direct(person, 'Count, please');
      await untilTrue(() => (textsIn(`D${person}`)[0] ?? '').includes('three'));
      first.kill('SIGKILL');
      await first.ended;
    }),
  );
  chat.script(says('All counted.'));
  await Promise.all(
    bots.map(async ({ start, person }) => {
      await start();
      await untilShown(`D${person}`, ['All counted.'], 30_000);
    }),
  );
}, 60_000);

test("broadcast mentions in the model's text notify no one in Slack", async () => {
  await startBot();
  chat.script(says('Hey <!channel> and <@U9> and @here, see <https://evil.test|your bank>'));
  await sender.direct('U6', 'call everybody');
  await untilTrue(() => (textsIn('DU6')[0] ?? '').includes('evil.test)'));
  const [text = ''] = textsIn('DU6');
  expect(text).not.toMatch(/<!|<@|@here|\|your bank/);
  expect(text).toContain('your bank (https://evil.test)');
});

test('a person is told once, privately, of too many messages in a minute and of a full inbox [back-pressure]', async () => {
  await startBot();
  chat.script(says('Yes.'));
  const toldOf = (words: string) => slack.messages.filter(({ text }) => text.includes(words)).length;
  await sender.direct('U7', 'message 0');
  await untilShown('DU7', ['Yes.']);
  const [state = ''] = await client.keys('{p*}:state:*');
  const [partition = '', id = ''] = state.split(':state:');
  const inbox = `${partition}:inbox:${id}`;
  await client.rpush(inbox, ...Array<string>(100).fill('waiting'));
  await client.zadd(`${partition}:pending`, Date.now(), id);
  for (let count = 1; count < 4; count += 1) await sender.direct('U7', `message ${count}`);
  await untilTrue(() => toldOf('Too many messages are already waiting here.') > 0);
  await client.del(inbox);
  await client.zrem(`${partition}:pending`, id);
  for (let count = 4; count < 24; count += 1) await sender.direct('U7', `message ${count}`);
  await untilTrue(() => toldOf('Too many messages in one minute.') > 0);
  expect([toldOf('Too many messages are'), toldOf('Too many messages in')]).toEqual([1, 1]);
});

test('with sign-in required, a channel shows only a notice, and the link goes to the private chat', async () => {
  await startBot({
    SIGN_IN: 'required',
    SIGN_IN_PROOF: 'same-id',
    SIGN_IN_URL: 'http://127.0.0.1:9',
    SIGN_IN_CLIENT_ID: 'parley',
    SIGN_IN_CLIENT_SECRET: 'secret',
  });
  await sender.mention({ channel: 'C8', userId: 'U8' }, 'hello');
  await untilTrue(() => textsIn('C8').length === 1 && textsIn('D8').length === 1);
  expect(textsIn('C8').join()).not.toContain('/link/');
  expect(textsIn('D8').join()).toContain('/link/');
});
