import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Messenger } from '../../src/simulator/start-messenger.ts';
import { until } from './messenger-at-test.ts';
import { APP_TOKEN, callApi, startSlackAtTest } from './slack-at-test.ts';
import { BOT_TOKEN } from './stand-in-slack-bot.ts';
import { useTestRedis } from '../support/use-test-redis.ts';

const redis = useTestRedis();
let messenger: Messenger;
const clients: ChildProcess[] = [];

interface Told {
  type: string;
  body: { event?: { type: string; text?: string }; text?: string; command?: string };
  retries: number;
}

beforeEach(async () => {
  await redis.redis.flushall();
  messenger = await startSlackAtTest({ redis: redis.redis, botUrl: 'http://127.0.0.1:9', isConnected: true });
});
afterEach(async () => {
  for (const client of clients.splice(0)) {
    client.kill('SIGKILL');
    await once(client, 'exit');
  }
  await messenger.close();
});

/** Slack's own client, which records what it receives over its socket. */
async function connect(behaviour: 'takes' | 'takes-second' = 'takes'): Promise<Told[]> {
  const told: Told[] = [];
  const program = fileURLToPath(new URL('../support/slack-socket-client.mjs', import.meta.url));
  const client = spawn(process.execPath, [program, `${messenger.url}/api/`, APP_TOKEN, behaviour], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  clients.push(client);
  createInterface(client.stdout).on('line', (line) => {
    const one = JSON.parse(line) as Told;
    const isEntry = () => /^(app_home_opened|assistant_thread_started)$/.test(one.body.event?.type ?? '');
    if (one.type !== 'connected' && !isEntry()) told.push(one);
  });
  await until(() => messenger.driver.isBotReachable(), 'the bot is there');
  return told;
}

describe("Slack's own client on the socket [slack-socket]", () => {
  test('receives messages, and its acknowledgement marks them as delivered', async () => {
    const told = await connect();
    const { results } = await messenger.driver.deliver('ada', 'hello there', 1);
    expect(results).toEqual([{ kind: 'silent' }]);
    expect(told.map(({ type, body }) => [type, body.event?.text])).toEqual([['events_api', 'hello there']]);
    await messenger.driver.send('ada', '/parley help');
    await until(() => told.length === 2, 'the command is told');
    expect(told[1]).toMatchObject({ type: 'slash_commands', body: { command: '/parley', text: 'help' } });
  });

  test('receives a press, which fails without an acknowledgement [slack-buttons]', async () => {
    const told = await connect();
    const { message } = await messenger.driver.deliver('ada', 'hello', 1);
    const [channel = ''] = message.id.split('-');
    const element = { type: 'button', action_id: 'a', text: { type: 'plain_text', text: 'Stop' } };
    const blocks = [{ type: 'actions', elements: [element] }];
    const posted = await callApi(messenger, 'chat.postMessage', { channel, text: 'x', blocks });
    const id = `${channel}-${posted.body.ts}`;
    await messenger.driver.press('ada', id, 'Stop');
    expect(told.at(-1)).toMatchObject({ type: 'interactive', body: { type: 'block_actions' } });
    messenger.driver.connections?.disconnectAll();
    await expect(messenger.driver.press('ada', id, 'Stop')).rejects.toMatchObject({ code: 'not_taken' });
  });

  test('receives an event again that it did not acknowledge', async () => {
    const told = await connect('takes-second');
    const { results } = await messenger.driver.deliver('ada', 'again', 1);
    expect(results).toEqual([{ kind: 'silent' }]);
    expect(told.map(({ retries }) => retries)).toEqual([0, 1]);
  });
});

test("opens one socket per address, and needs the app's own token", async () => {
  const open = (token: string) => callApi(messenger, 'apps.connections.open', {}, { authorization: `Bearer ${token}` });
  expect((await open(BOT_TOKEN)).body).toEqual({ ok: false, error: 'not_allowed_token_type' });
  expect((await open('xapp-another')).body).toEqual({ ok: false, error: 'invalid_auth' });
  const asBot = { authorization: `Bearer ${APP_TOKEN}` };
  expect((await callApi(messenger, 'auth.test', {}, asBot)).body).toEqual({
    ok: false,
    error: 'not_allowed_token_type',
  });
  const { WebSocket } = await import('ws');
  const url = String((await open(APP_TOKEN)).body['url']);
  const first = new WebSocket(url);
  const hello = await new Promise((resolve) => first.once('message', (data: Buffer) => resolve(String(data))));
  expect(JSON.parse(String(hello))).toMatchObject({ type: 'hello', num_connections: 1 });
  const second = new WebSocket(url);
  const refused = await new Promise<Error>((resolve) => second.once('error', resolve));
  expect(refused.message).toContain('403');
  first.terminate();
  await until(() => messenger.driver.connections?.size === 0, 'it is gone');
  expect(await messenger.driver.deliver('ada', 'nobody there', 1)).toMatchObject({
    results: [{ kind: 'unreachable' }],
  });
});
