import { expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { chunk, helloStream, type Answer } from '../bot/model/scripted-chat-server.ts';
import type { SlackMessage } from '../support/fake-slack.ts';
import { untilTrue } from '../support/deployment.ts';
import { useSlackDeployment } from '../support/slack-deployment.ts';

// Not every platform repeats a delivery that was answered with 503, and Slack never repeats a press. The receiver therefore
// retries until the deadline.

const deployment = useSlackDeployment();
const MOMENT_MS = 400;
const last = (): SlackMessage => deployment.slack.messages.at(-1) as SlackMessage;
const labels = () => last().buttons.map(({ label }) => label);
const noneWaits = async () => (await deployment.redis.keys('*:pending')).length === 0;

/** Redis refuses all commands of the bot while this arrives. @returns its result */
async function inBadMoment<Result>(arrive: () => Promise<Result>): Promise<Result> {
  await deployment.redis.call('ACL', 'SETUSER', 'default', '-@all', '+acl', '+info', '+@connection');
  const arriving = arrive();
  await sleep(MOMENT_MS);
  await deployment.redis.call('ACL', 'SETUSER', 'default', '+@all');
  return arriving;
}

async function press(label: string): Promise<number> {
  const { channel, ts, threadTs, buttons } = last();
  const button = buttons.find((one) => one.label === label) as SlackMessage['buttons'][number];
  const [status] = await deployment.sender.press({ channel, ts, threadTs, userId: 'U1' }, button);
  return status;
}

async function answered(): Promise<void> {
  deployment.chat.script(helloStream('an answer'), helloStream('another'));
  await deployment.startBot({ SLACK_REPLY: 'edit', THREAD_FOLLOW: 'yes' });
  await deployment.sender.direct('U1', 'a question');
  await deployment.untilShown('DU1', ['an answer']);
  await untilTrue(noneWaits);
}

test('a deleted question is taken back when the event arrives while Redis refuses commands [acknowledged-when-stored]', async () => {
  await deployment.startBot();
  const ts = '1760000040.000001';
  const said = { type: 'message', channel: 'DU1', channel_type: 'im', user: 'U1', text: 'a question', ts };
  const deletion = { type: 'message', subtype: 'message_deleted', channel: 'DU1', channel_type: 'im', hidden: true };
  const deleted = { ...deletion, deleted_ts: ts, ts: '1760000041.000001', previous_message: said };
  expect(await inBadMoment(() => deployment.sender.event(deleted))).toBe(200);
  expect(await deployment.sender.event(said)).toBe(200);
  await sleep(MOMENT_MS);
  expect(deployment.chat.calls).toHaveLength(0);
}, 60_000);

test('a rating is stored when it arrives while Redis refuses commands [acknowledged-when-stored]', async () => {
  await answered();
  expect(await inBadMoment(() => press('Good answer'))).toBe(200);
  await untilTrue(async () => (await deployment.redis.keys('*:feedback:*')).length > 0);
}, 60_000);

test('a press of Try again asks again when it arrives while Redis refuses commands [acknowledged-when-stored]', async () => {
  await answered();
  expect(await inBadMoment(() => press('Try again'))).toBe(200);
  await deployment.untilShown('DU1', ['↓ answered below', 'another']);
}, 60_000);

test('a press of Stop ends the answer when it arrives while Redis refuses commands [acknowledged-when-stored]', async () => {
  let end: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => (end = resolve));
  const slow: Answer = async (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(chunk({ content: 'the beginning' }));
    await ended;
  };
  deployment.chat.script(slow);
  await deployment.startBot({ SLACK_REPLY: 'edit' });
  await deployment.sender.direct('U1', 'a question');
  await untilTrue(() => deployment.textsIn('DU1')[0] === 'the beginning' && labels().includes('Stop'));
  expect(await inBadMoment(() => press('Stop'))).toBe(200);
  await untilTrue(() => last().note === 'Stopped.');
  end();
}, 60_000);

test('a thread reply without a mention is answered when it arrives while Redis refuses commands [acknowledged-when-stored]', async () => {
  deployment.chat.script(helloStream('an answer'), helloStream('another'));
  await deployment.startBot({ THREAD_FOLLOW: 'yes' });
  const ts = await deployment.sender.mention({ channel: 'C1', userId: 'U1' }, 'a question');
  await deployment.untilShown('C1', ['an answer']);
  await untilTrue(async () => (await deployment.redis.keys('*:followed:*')).length > 0);
  const said = { type: 'message', channel: 'C1', channel_type: 'channel', user: 'U1', text: 'and then?' };
  expect(await inBadMoment(() => deployment.sender.event({ ...said, ts: '1760000042.000001', thread_ts: ts }))).toBe(
    200,
  );
  await deployment.untilShown('C1', ['an answer', 'another']);
}, 60_000);
