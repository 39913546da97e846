import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { got } from 'got';
import { checkPlatform } from '../../src/cli/check/check-platform.ts';
import { freePort } from '../../src/bot/app/local/embedded-redis.ts';
import { loadSettings } from '../../src/bot/config/load-settings.ts';
import { startDeployment, untilTrue, type Deployment } from '../support/deployment.ts';
import { startParleyProcess, type ParleyProcess } from '../support/parley-process.ts';
import { startRawConnections, type RawConnections } from '../support/raw-wecom-connections.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';

jest.setTimeout(60_000);
let deployment: Deployment;
let wecom: RawConnections;
const processes: ParleyProcess[] = [];

beforeAll(async () => {
  deployment = await startDeployment({
    isConnected: true,
    startsBot: false,
    tokensPerSec: 80,
    env: { SIGN_IN: 'off', SIGN_IN_PROOF: '' },
  });
});
afterAll(() => deployment.stop());
beforeEach(async () => {
  wecom = await startRawConnections();
  deployment.env['WECOM_WS_URL'] = wecom.url;
});
afterEach(async () => {
  await deployment.stopBot();
  for (const one of processes) one.kill('SIGKILL');
  await Promise.all(processes.splice(0).map(({ ended }) => ended));
  await wecom.stop();
  await deployment.redis.flushall();
  deployment.lines.splice(0);
});

const startBot = async (more: Record<string, string> = {}) => {
  await deployment.startBot(more);
  await untilTrue(() => wecom.isSubscribed);
};
const startProcess = async (more: Record<string, string> = {}) => {
  const port = String(await freePort());
  const env = { ...deployment.env, PORT: port, ROLES: 'receiver,worker', ...more };
  const parley = await startParleyProcess({ env, until: /is running|has started/ });
  processes.push(parley);
  return Object.assign(parley, { url: `http://127.0.0.1:${port}` });
};
const last = (reqId: string) => wecom.shown(reqId).at(-1);
const untilWhole = (reqId: string, text: string) =>
  untilTrue(() => last(reqId)?.finish === true, 20_000).then(() => expect(last(reqId)?.content).toBe(text));
const said = (words: string) => deployment.lines.filter((line) => line.includes(words)).length;

test('a question over the connection is answered in one growing stream, and the webhook returns 404 [connections-accept-alike]', async () => {
  await startBot();
  const request = wecom.say('count to 200');
  await untilTrue(() => last(request)?.finish === true);
  expect(last(request)?.content).toMatch(/^1 2 3 .* 199 200$/);
  const shown = wecom.shown(request);
  // Usually empty; not if the receiver was so busy that text came first.
  expect(shown[0]?.finish).toBe(false);
  expect(last(request)?.content).toMatch(new RegExp(`^${shown[0]?.content}`));
  expect(new Set(shown.map(({ streamId }) => streamId)).size).toBe(1);
  expect(shown.filter(({ finish }) => finish)).toHaveLength(1);
  expect(shown.length).toBeGreaterThan(2);
  const call = await got.post(`${deployment.botUrl}/webhooks/wecom`, { json: {}, throwHttpErrors: false });
  expect(call.statusCode).toBe(404);
  expect(deployment.env['WECOM_BOT_TOKEN']).toBeUndefined();
  expect(await got(`${deployment.botUrl}/metrics`).text()).toContain('parley_open_connections{platform="wecom"} 1');
});

test('a repeated message is one question with one answer, in reply to its first delivery', async () => {
  await startBot();
  const first = wecom.say('count to 5', { msgid: 'SAME' });
  const second = wecom.say('count to 5', { msgid: 'SAME' });
  await untilWhole(first, '1 2 3 4 5');
  const third = wecom.say('count to 5', { msgid: 'SAME' });
  wecom.say('count to 3', { userId: 'emma.clarke', reqId: 'OTHER' });
  await untilWhole('OTHER', '1 2 3');
  expect(wecom.shown(second)).toEqual([]);
  expect(wecom.shown(third)).toEqual([]);
  expect(said('chat call ended')).toBe(2);
});

test('a person who enters the chat is welcomed in reply to the event, and a rating is counted', async () => {
  await startBot();
  const request = wecom.event({ eventtype: 'enter_chat' });
  await untilTrue(() => wecom.frames.some(({ cmd }) => cmd === 'aibot_respond_welcome_msg'));
  // Without an address for a card the suggested questions are lines of text.
  const text = { content: expect.stringMatching(/\n• 你能帮我做哪些事/) };
  expect(wecom.frames.at(-1)).toMatchObject({ reqId: request, body: { msgtype: 'text', text } });
  wecom.event({ eventtype: 'feedback_event', feedback_event: { id: 'x', type: 1 } });
  await untilTrue(() => said('an answer was rated') === 1);
});

test('a person who enters the chat at the moment of subscription is welcomed', async () => {
  let request = '';
  wecom.judge = ({ cmd }) => {
    // Directly after the acknowledgement, so that both frames are read together.
    if (cmd === 'aibot_subscribe') queueMicrotask(() => (request = wecom.event({ eventtype: 'enter_chat' })));
    return 0;
  };
  await startBot();
  await untilTrue(() => wecom.frames.some(({ cmd }) => cmd === 'aibot_respond_welcome_msg'));
  expect(wecom.frames.at(-1)?.reqId).toBe(request);
});

test('a person who enters the chat gets a card with questions to tap if an address for the card is set', async () => {
  await startBot({ SIGN_IN_HELP_URL: 'https://help.example.org/' });
  const request = wecom.event({ eventtype: 'enter_chat' });
  await untilTrue(() => wecom.frames.some(({ cmd }) => cmd === 'aibot_respond_welcome_msg'));
  const template_card = {
    card_type: 'text_notice',
    jump_list: [1, 2, 3].map(() => ({ type: 3, title: expect.any(String), question: expect.any(String) })),
    card_action: { type: 1, url: 'https://help.example.org/' },
  };
  expect(wecom.frames.at(-1)).toMatchObject({ reqId: request, body: { msgtype: 'template_card', template_card } });
});

test('a cut connection is reopened, and the answer continues in its stream', async () => {
  await startBot();
  const request = wecom.say('count to 60');
  await untilTrue(() => (last(request)?.content.length ?? 0) > 5);
  wecom.cut();
  await untilTrue(() => wecom.subscribed === 2);
  await untilTrue(() => last(request)?.finish === true);
  const shown = wecom.shown(request);
  expect(shown.at(-1)).toMatchObject({ connection: 2, content: expect.stringMatching(/^1 2 3 .* 59 60$/) });
  expect(new Set(shown.map(({ streamId }) => streamId)).size).toBe(1);
  // An empty frame would have erased the shown text.
  expect(shown.filter(({ connection, content }) => connection === 2 && content === '')).toEqual([]);
});

test('the complete answer is pushed once if WeCom has forgotten the request after a reconnect', async () => {
  await startBot();
  const request = wecom.say('count to 60', { chatId: 'wrtown', body: { text: { content: '@Parley count to 60' } } });
  await untilTrue(() => (last(request)?.content.length ?? 0) > 5);
  wecom.judge = ({ cmd, reqId }) => (cmd === 'aibot_respond_msg' && reqId === request ? 846_605 : 0);
  wecom.cut();
  await untilTrue(() => wecom.pushes().length > 0);
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  expect(wecom.pushes()).toEqual([{ chatid: 'wrtown', content: expect.stringMatching(/^1 2 3 .* 59 60$/) }]);
  expect(deployment.lines.filter((line) => line.includes('an answer was finished outside its stream'))).toEqual([
    expect.stringContaining('"way":"push"'),
  ]);
  expect(wecom.frames.find(({ cmd }) => cmd === 'aibot_send_msg')?.body['chat_type']).toBe(2);
});

test('a stream past its time limit is abandoned, and the complete answer comes in a new stream of the same request', async () => {
  await startBot();
  const request = wecom.say('count to 60');
  await untilTrue(() => (last(request)?.content.length ?? 0) > 5);
  const first = wecom.shown(request)[0]?.streamId;
  wecom.judge = ({ body }) => ((body['stream'] as { id?: string } | undefined)?.id === first ? 846_608 : 0);
  await untilTrue(() => wecom.shown(request).some(({ finish, streamId }) => finish && streamId !== first));
  expect(wecom.shown(request).filter(({ streamId }) => streamId !== first)).toEqual([
    { streamId: expect.anything(), content: expect.stringMatching(/^1 2 .* 60$/), finish: true, connection: 1 },
  ]);
});

test('a frame refused by the rate limit is sent later, complete', async () => {
  await startBot();
  let refused = 0;
  wecom.judge = ({ body }) => {
    const stream = body['stream'] as { finish: boolean } | undefined;
    if (stream?.finish !== true || refused === 3) return 0;
    refused += 1;
    return 45_009;
  };
  const request = wecom.say('count to 4');
  await untilTrue(() => refused === 3 && wecom.shown(request).filter(({ finish }) => finish).length === 4, 25_000);
  expect(new Set(wecom.shown(request).map(({ streamId }) => streamId)).size).toBe(1);
  expect(last(request)).toMatchObject({ content: '1 2 3 4', finish: true });
});

test('a frame without an acknowledgement does not count as shown', async () => {
  await startBot();
  let silent = true;
  wecom.judge = ({ body }) => {
    const stream = body['stream'] as { finish: boolean } | undefined;
    if (stream?.finish !== true || !silent) return 0;
    silent = false;
    return 'silent';
  };
  const request = wecom.say('count to 4');
  await untilTrue(() => wecom.shown(request).filter(({ finish }) => finish).length === 2, 20_000);
  expect(last(request)?.content).toBe('1 2 3 4');
});

test.each(['SIGKILL', 'SIGSTOP'] as const)(
  'of two receivers one holds the connection, and after %s to it the other takes over within five seconds and completes the answer once',
  async (signal) => {
    const first = await startProcess();
    await untilTrue(() => wecom.isSubscribed);
    const second = await startProcess();
    expect((await got(`${second.url}/readyz`)).statusCode).toBe(200);
    expect(wecom.subscribed).toBe(1);
    const request = wecom.say('count to 200');
    await untilTrue(() => (last(request)?.content.length ?? 0) > 5);
    const atMs = performance.now();
    first.kill(signal);
    await untilTrue(() => wecom.subscribed === 2, 10_000);
    expect(performance.now() - atMs).toBeLessThan(8_000);
    const later = wecom.say('count to 6', { userId: 'emma.clarke' });
    await untilWhole(later, '1 2 3 4 5 6');
    await untilTrue(() => last(request)?.finish === true, 30_000);
    expect(last(request)?.content).toMatch(/^1 2 3 .* 199 200$/);
    if (signal === 'SIGKILL') return;
    const framesBefore = wecom.frames.filter(({ connection }) => connection === 1).length;
    first.kill('SIGCONT');
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    // The process resumes, finds that it no longer holds the connection, and sends nothing.
    expect(wecom.frames.filter(({ connection }) => connection === 1)).toHaveLength(framesBefore);
    expect(wecom.subscribed).toBe(2);
  },
);

test('an answer that ended while no receiver held the connection is shown by the next holder', async () => {
  const first = await startProcess({ ROLES: 'receiver' });
  await untilTrue(() => wecom.isSubscribed);
  await startProcess({ ROLES: 'worker' });
  await startBot({ ROLES: 'receiver' });
  const request = wecom.say('count to 60');
  await untilTrue(() => (last(request)?.content.length ?? 0) > 5);
  first.kill('SIGKILL');
  const isCommitted = async () => {
    const [key = ''] = await deployment.redis.keys('*:message:*');
    return (await deployment.redis.hget(key, 'finished')) === '1';
  };
  await untilTrue(isCommitted);
  expect(last(request)?.finish).toBe(false);
  await untilTrue(() => wecom.subscribed === 2, 10_000);
  await untilTrue(() => last(request)?.finish === true, 20_000);
  expect(last(request)?.content).toMatch(/^1 2 3 .* 59 60$/);
}, 60_000);

test('at an orderly stop the standby connects before the old holder disconnects', async () => {
  const first = await startProcess();
  await untilTrue(() => wecom.isSubscribed);
  await startProcess();
  let wasUnsubscribed = false;
  const watch = setInterval(() => (wasUnsubscribed ||= !wecom.isSubscribed), 1);
  first.kill('SIGTERM');
  await untilTrue(() => wecom.subscribed === 2, 20_000);
  await first.ended;
  clearInterval(watch);
  expect(wasUnsubscribed).toBe(false);
});

test('while Redis is down the connection stays, and messages are stored once Redis is back [acknowledged-when-stored]', async () => {
  const redis = await startTcpProxy(Number(new URL(deployment.redisServer.url).port));
  await startBot({ REDIS_URL: `redis://127.0.0.1:${redis.port}` });
  redis.breakWith({ kind: 'reset' });
  const requests = ['count to 7', 'count to 8'].map((text) => wecom.say(text));
  await new Promise((resolve) => setTimeout(resolve, 6_000));
  expect(wecom.isSubscribed).toBe(true);
  redis.mend();
  await untilTrue(() => requests.every((request) => last(request)?.finish === true), 20_000);
  expect(wecom.subscribed).toBe(1);
  await deployment.stopBot();
  await redis.close();
});

test('no message is accepted before the place of its answer is recorded [answer-has-a-place]', async () => {
  await startBot();
  const [lease = ''] = await deployment.redis.keys('{wecom-bot:*}:lease');
  const replies = lease.replace(/lease$/, 'replies');
  await deployment.redis.set(replies, 'takes no fields');
  const request = wecom.say('count to 7');
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  expect(await deployment.redis.keys('*:message:*')).toEqual([]);
  await deployment.redis.del(replies);
  await untilWhole(request, '1 2 3 4 5 6 7');
});

test('a secret that WeCom refuses is not retried, and the log and the check name the setting', async () => {
  wecom.judge = ({ body }) => (body['secret'] === 'wrong' ? 853_000 : 0);
  const refused = { WECOM_BOT_SECRET: 'wrong' };
  await deployment.startBot(refused);
  await untilTrue(() => said('copy WECOM_BOT_SECRET from its console again') === 1);
  await new Promise((resolve) => setTimeout(resolve, 2_500));
  expect(wecom.frames.filter(({ cmd }) => cmd === 'aibot_subscribe')).toHaveLength(1);
  const check = async (more: Record<string, string>) => {
    const settings = loadSettings({ env: { ...deployment.env, ...more }, cwd: process.cwd() });
    if (!settings.ok) throw new Error('The settings cannot be read');
    return checkPlatform('wecom', settings);
  };
  expect(await check({})).toContainEqual(expect.objectContaining({ name: 'WeCom connection', verdict: 'ok' }));
  expect(await check(refused)).toContainEqual({
    name: 'WeCom connection',
    verdict: 'fault',
    detail: expect.stringContaining('853000'),
    nextStep: expect.stringContaining('WECOM_BOT_SECRET'),
  });
  await deployment.stopBot();
  await startBot();
  expect(await check({})).toContainEqual({
    name: 'WeCom connection',
    verdict: 'ok',
    detail: 'a running Parley holds the connection',
  });
  expect(wecom.isSubscribed).toBe(true);
});

describe('a stop directly after a slash word that ends at once', () => {
  const WORDS = ['/help', '/whoami', '/new', '/think', '帮助', '/stop'];
  /** Expects exactly one final frame of a request, with text, and no frame after it. */
  const expectWhole = (reqId: string) => {
    const shown = wecom.shown(reqId);
    expect(shown.filter(({ finish }) => finish)).toEqual([
      expect.objectContaining({ content: expect.stringMatching(/\S/) }),
    ]);
    expect(shown.at(-1)?.finish).toBe(true);
  };
  const untilBoth = (...requests: string[]) =>
    untilTrue(() => requests.every((reqId) => last(reqId)?.finish === true), 20_000);

  test.each(WORDS)('leaves the answer to %s intact, with text in the final frames', async (word) => {
    await startBot();
    const alone = wecom.say(word);
    await untilBoth(alone);
    const [first, stop] = [wecom.say(word), wecom.say('/stop')];
    await untilBoth(first, stop);
    expect(last(first)?.content).toBe(last(alone)?.content);
    for (const reqId of [first, stop]) expectWhole(reqId);
  });

  test('leaves the answers intact when both wait for a worker', async () => {
    await startProcess({ ROLES: 'receiver' });
    await untilTrue(() => wecom.isSubscribed);
    const requests = [...WORDS, '/stop'].map((word) => wecom.say(word));
    await untilTrue(async () => (await deployment.redis.keys('*:message:*')).length === requests.length);
    await startProcess({ ROLES: 'worker' });
    await untilBoth(...requests);
    for (const reqId of requests) expectWhole(reqId);
    expect(last(requests[0]!)?.content).toContain('/stop');
    expect(wecom.pushes()).toEqual([]);
  });
});
