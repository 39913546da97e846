import { afterAll, afterEach, beforeAll, expect, jest, test } from '@jest/globals';
import { got } from 'got';
import { loadSettings } from '../../src/bot/config/load-settings.ts';
import { checkPlatform } from '../../src/cli/check/check-platform.ts';
import { freePort } from '../../src/bot/app/local/embedded-redis.ts';
import { startParleyProcess, type ParleyProcess } from '../support/parley-process.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';
import { startDeployment, untilTrue, type Deployment } from '../support/deployment.ts';

jest.setTimeout(60_000);
let deployment: Deployment;
const processes: ParleyProcess[] = [];

beforeAll(async () => {
  deployment = await startDeployment({
    protocol: 'slack',
    isConnected: true,
    startsBot: false,
    tokensPerSec: 80,
    slackTiming: { retryPausesMs: [0, 500, 1_000, 2_000, 4_000], ackTimeoutMs: 2_000, socketWarningMs: 1_500 },
    env: { SIGN_IN: 'off', SIGN_IN_PROOF: '', SLACK_REPLY: 'edit', REPLY_MIN_EDIT_MS: '100' },
  });
});
afterAll(() => deployment.stop());
afterEach(async () => {
  await deployment.stopBot();
  for (const one of processes) one.kill('SIGKILL');
  await Promise.all(processes.splice(0).map(({ ended }) => ended));
  await untilTrue(() => sockets().size === 0);
  deployment.lines.splice(0);
});

const driver = () => deployment.messenger.driver;
const sockets = () => {
  const { connections } = driver();
  if (!connections) throw new Error('The messenger plays no sockets');
  return connections;
};
const startBot = async (more: Record<string, string> = {}) => {
  await deployment.startBot(more);
  await untilTrue(() => sockets().size === 1);
};
const untilAnswered = async (messageId: string, text: RegExp) => {
  const matches = async () => text.test((await driver().answer(messageId))?.text ?? '');
  await untilTrue(matches, 30_000).catch(async () => expect((await driver().answer(messageId))?.text).toMatch(text));
};
const said = (words: string) => deployment.lines.filter((line) => line.includes(words)).length;

test('a question over the socket is answered, while the webhook returns 404 and needs no secret [connections-accept-alike]', async () => {
  await startBot();
  expect(deployment.env['SLACK_SIGNING_SECRET']).toBeUndefined();
  const message = await driver().send('zhangwei', 'count to 5');
  await untilAnswered(message.id, /^1 2 3 4 5$/);
  const call = await got.post(`${deployment.botUrl}/webhooks/slack`, { json: {}, throwHttpErrors: false });
  expect(call.statusCode).toBe(404);
  const metrics = await got(`${deployment.botUrl}/metrics`).text();
  expect(metrics).toContain('parley_open_connections{platform="slack"} 1');
  expect((await got(`${deployment.botUrl}/readyz`)).statusCode).toBe(200);
});

test('an event that arrives over three sockets at once is one question with one answer', async () => {
  await startBot();
  const { message, results } = await driver().deliver('zhangwei', 'count to 6', 3);
  expect(results.map(({ kind }) => kind)).toEqual(['silent', 'silent', 'silent']);
  await untilAnswered(message.id, /^1 2 3 4 5 6$/);
  expect(said('chat call ended')).toBe(1);
});

test('after a warning the next socket is opened before the old one is closed, so no event has to be repeated', async () => {
  await startBot();
  const before = sockets().openedCount;
  sockets().replaceAll('warning');
  const people = ['zhangwei', 'linxiaoyu', 'emma.clarke'];
  const asked = await Promise.all(people.map((person) => driver().send(person, 'count to 6')));
  await untilTrue(() => sockets().openedCount === before + 1 && sockets().size === 1);
  for (const { id } of asked) await untilAnswered(id, /^1 2 3 4 5 6$/);
  expect(said('the connection to the platform was lost')).toBe(0);
});

test.each([
  ['is cut', () => sockets().disconnectAll()],
  ['is replaced without a warning', () => sockets().replaceAll('refresh_requested')],
])('a socket that %s is reopened, and messages of the meantime are answered once', async (_, end) => {
  await startBot();
  end();
  const message = await driver().send('zhangwei', 'count to 7');
  await untilAnswered(message.id, /^1 2 3 4 5 6 7$/);
  expect(said('chat call ended')).toBe(1);
  expect(said('the connection to the platform was lost')).toBe(1);
  expect(sockets().size).toBe(1);
});

test('a message that cannot be stored is not acknowledged, and Slack delivers it again [connections-accept-alike]', async () => {
  const redis = await startTcpProxy(Number(new URL(deployment.redisServer.url).port));
  await startBot({ REDIS_URL: `redis://127.0.0.1:${redis.port}` });
  redis.breakWith({ kind: 'reset' });
  const message = await driver().send('zhangwei', 'count to 8');
  await untilTrue(() => said('could not be stored') > 0);
  redis.mend();
  await untilAnswered(message.id, /^1 2 3 4 5 6 7 8$/);
  expect(said('chat call ended')).toBe(1);
  await deployment.stopBot();
  await redis.close();
});

test.each(['SIGKILL', 'SIGSTOP'] as const)(
  'every receiver holds a socket, and after %s to one the others take its events',
  async (signal) => {
    const start = async () => {
      const port = String(await freePort());
      const parley = await startParleyProcess({
        env: { ...deployment.env, PORT: port, ROLES: 'receiver,worker' },
        until: /is running|has started/,
      });
      processes.push(parley);
      return parley;
    };
    const first = await start();
    await start();
    await untilTrue(() => sockets().size === 2);
    first.kill(signal);
    // Of two consecutive events one goes to the receiver that is no longer there.
    for (const person of ['zhangwei', 'linxiaoyu']) {
      const message = await driver().send(person, 'count to 9');
      await untilAnswered(message.id, /^1 2 3 4 5 6 7 8 9$/);
    }
  },
);

test('a receiver that stops in order closes its socket, and the next one answers the messages that it accepted', async () => {
  await startBot();
  const message = await driver().send('zhangwei', 'count to 40');
  await untilTrue(async () => /\d/.test((await driver().answer(message.id))?.text ?? ''));
  await deployment.stopBot();
  await untilTrue(() => sockets().size === 0);
  await startBot();
  await untilAnswered(message.id, /\b39 40$/);
});

test('a token that Slack refuses is not retried, and the log and the check name the setting', async () => {
  const refused = { SLACK_APP_TOKEN: 'xapp-of-somebody-else' };
  await deployment.startBot(refused);
  await untilTrue(() => said('copy SLACK_APP_TOKEN from its console again') === 1);
  await new Promise((resolve) => setTimeout(resolve, 2_500));
  expect(said('copy SLACK_APP_TOKEN from its console again')).toBe(1);
  expect(said('xapp-of-somebody-else')).toBe(0);
  expect(sockets().size).toBe(0);
  const check = async (more: Record<string, string>) => {
    const settings = loadSettings({ env: { ...deployment.env, ...more }, cwd: process.cwd() });
    if (!settings.ok) throw new Error('The settings cannot be read');
    return checkPlatform('slack', settings);
  };
  expect(await check({})).toEqual([
    expect.objectContaining({ name: 'Slack bot', verdict: 'ok' }),
    expect.objectContaining({ name: 'Slack scopes', verdict: 'ok' }),
    expect.objectContaining({ name: 'Slack socket', verdict: 'ok' }),
    expect.objectContaining({ name: 'Slack sign-in', verdict: 'ok' }),
  ]);
  expect(await check(refused)).toContainEqual({
    name: 'Slack socket',
    verdict: 'fault',
    detail: 'Slack refuses the app-level token (invalid_auth)',
    nextStep: expect.stringContaining('SLACK_APP_TOKEN'),
  });
});
