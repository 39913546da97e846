import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { MINUTE_MS, SECOND_MS } from '../../src/shared/clock.ts';
import { freePort } from '../../src/bot/app/local/embedded-redis.ts';
import { REPLY_TEXTS } from '../../src/bot/i18n/reply-texts.ts';
import { chunk, helloStream, sse } from '../bot/model/scripted-chat-server.ts';
import { ageMessages } from '../support/age-messages.ts';
import { useSlackDeployment } from '../support/slack-deployment.ts';
import { untilTrue } from '../support/deployment.ts';
import { createWecomSender, wecomText } from '../support/wecom-sender.ts';

// Processes of one bot with clocks a minute apart. Ages are measured by Redis' clock, which a test cannot move, so the tests
// move the stored timestamps.

const deployment = useSlackDeployment();
const AHEAD = () => Date.now() + MINUTE_MS;
const BEHIND = () => Date.now() - MINUTE_MS;
const WECOM = { token: 'apart-token-0123456789', aesKey: 'abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG' };

/** Receives the answers that the bot posts to WeCom. */
let wecom: Server;
let posted: string[] = [];
beforeEach(async () => {
  posted = [];
  wecom = createServer((request, response) => {
    request.setEncoding('utf8').on('data', (body: string) => void posted.push(body));
    request.on('end', () => response.end('{"errcode":0}'));
  });
  await new Promise<void>((resolve) => wecom.listen(0, '127.0.0.1', resolve));
});
afterEach(() => new Promise((resolve) => wecom.close(resolve)));

interface Look {
  id: string;
  content: string;
  finish: boolean;
}

test('receivers with clocks a minute ahead and behind hand over a live reply at the same age [wrong-clocks]', async () => {
  let isToGoOn = false;
  deployment.chat.script(async (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(chunk({ content: 'Slow' }));
    await untilTrue(() => isToGoOn, 30_000);
    // A separate snapshot, by which the worker learns that polling has ended the reply.
    response.write(chunk({ content: 'ly, ' }));
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    response.end(chunk({ content: 'but whole.' }, 'stop') + sse('[DONE]'));
  });
  const origin = `http://127.0.0.1:${(wecom.address() as AddressInfo).port}`;
  const env = { WECOM_BOT_TOKEN: WECOM.token, WECOM_BOT_AES_KEY: WECOM.aesKey, WECOM_BOT_NAME: 'Parley' };
  const ports = [await freePort(), await freePort()];
  const [ahead, behind] = ports.map((port) => createWecomSender({ botUrl: `http://127.0.0.1:${port}`, ...WECOM }));
  await deployment.startBot({ ...env, WECOM_API_URL: origin, ROLES: 'receiver', PORT: String(ports[0]) }, AHEAD);
  await deployment.startBot({ ...env, WECOM_API_URL: origin, ROLES: 'receiver', PORT: String(ports[1]) }, BEHIND);
  await deployment.startBot({ ...env, WECOM_API_URL: origin, ROLES: 'worker' });
  const question = { ...wecomText('a long one'), response_url: `${origin}/cgi-bin/aibot/response?response_code=1` };
  const lookOf = (answer: unknown) => (answer as { stream: Look }).stream;
  const asked = lookOf((await behind?.send(question))?.answer);
  const poll = async (by = ahead) =>
    lookOf(
      (await by?.send({ ...wecomText(''), text: undefined, msgtype: 'stream', stream: { id: asked.id } }))?.answer,
    );
  await untilTrue(async () => (await poll()).content === 'Slow');

  await ageMessages(deployment.redis, 5 * MINUTE_MS);
  for (const receiver of [ahead, behind])
    expect(await poll(receiver)).toMatchObject({ content: 'Slow', finish: false });
  await ageMessages(deployment.redis, 31 * SECOND_MS);
  const last = await poll(behind);
  expect(last).toMatchObject({ content: REPLY_TEXTS.followsBelow.en, finish: true });
  isToGoOn = true;
  await untilTrue(() => posted.length > 0);
  await untilTrue(async () => (await deployment.redis.keys('*:pending')).length === 0);
  expect(posted).toEqual([expect.stringContaining('Slowly, but whole.')]);
  expect(await poll(ahead)).toMatchObject({ content: last.content, finish: true });
}, 60_000);

test.each([
  { off: 'the receiver clock is a minute ahead', receiver: AHEAD, worker: Date.now },
  { off: 'the worker clock is a minute behind', receiver: Date.now, worker: BEHIND },
])(
  'when $off, the sweeper finds a message with a lost wake-up after the usual time [wrong-clocks]',
  async ({ receiver, worker }) => {
    deployment.chat.script(helloStream('Answered.'));
    await deployment.startBot({ ROLES: 'receiver' }, receiver);
    await deployment.sender.direct('U1', 'a question');
    await deployment.stopBots();
    await deployment.redis.del('none', ...(await deployment.redis.keys('{wake*')));
    await ageMessages(deployment.redis, 11 * SECOND_MS);
    await deployment.startBot({ ROLES: 'worker', PORT: String(await freePort()) }, worker);
    await untilTrue(() => deployment.textsIn('DU1').join() === 'Answered.', 12_000);
  },
);
