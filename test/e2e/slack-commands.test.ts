import { beforeEach, describe, expect, test } from '@jest/globals';
import { helloStream } from '../bot/model/scripted-chat-server.ts';
import { createSlackSender } from '../support/slack-sender.ts';
import { useSlackDeployment } from '../support/slack-deployment.ts';
import { untilTrue } from '../support/deployment.ts';

const deployment = useSlackDeployment();
const HELP = /^Ask me anything.*`help`.*`think off\|low\|high\|max\|auto`/s;
const GROUP_HELP = /^Mention me with a question.*`new`/s;

beforeEach(() => deployment.startBot());

/** The address at which Slack takes the response to one command. */
const responseUrl = (name = 'secret') => `${new URL(deployment.slack.apiUrl).origin}/commands/${name}`;
const inChannel = () => ({ channel: 'C1', userId: 'U1', responseUrl: responseUrl() });
const privately = () => deployment.slack.responses.map(({ body }) => body);
const refuse = (error: string, times = 1) =>
  deployment.slack.faults.set(
    'chat.postMessage',
    Array.from({ length: times }, () => ({ kind: 'error' as const, error })),
  );
const isAnswered = async () => (await deployment.redis.keys('*:pending')).length === 0;

describe('a slash word without its slash', () => {
  test.each([
    ['help', HELP],
    ['Help', HELP],
    ['think high', /^I will now think/],
    ['model svc-max', '`svc-max` now answers you in this chat.'],
    ['retry', 'There is no question to retry yet.'],
  ])('is carried out in a private chat without a model call: %j', async (text, answer) => {
    await deployment.sender.direct('U1', text);
    await untilTrue(() => deployment.textsIn('DU1').length === 1);
    expect(deployment.textsIn('DU1')).toEqual([typeof answer === 'string' ? answer : expect.stringMatching(answer)]);
    expect(deployment.chat.calls).toHaveLength(0);
  });

  test('works after a mention, while a longer text that begins with one is a question', async () => {
    await deployment.sender.mention({ channel: 'C1', userId: 'U1' }, 'help');
    await untilTrue(() => deployment.textsIn('C1').length === 1);
    expect(deployment.textsIn('C1')[0]).toMatch(GROUP_HELP);
    deployment.chat.script(helloStream('Dear Sir or Madam,'));
    await deployment.sender.direct('U1', 'help me write a letter');
    await deployment.untilShown('DU1', ['Dear Sir or Madam,']);
  });
});

describe('the slash command of the app', () => {
  test('is acknowledged with an empty body, and a slash word in a channel is answered to its sender alone', async () => {
    expect(await deployment.sender.command(inChannel(), 'help')).toEqual([200, '']);
    await untilTrue(() => privately().length === 1);
    const [answer] = privately();
    expect(answer).toMatchObject({ response_type: 'ephemeral', blocks: [{ type: 'markdown' }] });
    expect(JSON.stringify(answer)).toMatch(/Mention me with a question/);
    await untilTrue(isAnswered);
    expect(deployment.textsIn('C1')).toEqual([]);
    expect(privately()).toHaveLength(1);
  });

  test('is treated as a normal message in the private chat with the bot', async () => {
    await deployment.sender.command({ channel: 'DU1', userId: 'U1', responseUrl: responseUrl() }, '');
    await untilTrue(() => deployment.textsIn('DU1').length === 1);
    expect(deployment.textsIn('DU1')[0]).toMatch(HELP);
    expect(privately()).toEqual([]);
  });

  test('is answered in the private chat with the bot when used between two people', async () => {
    refuse('channel_not_found');
    await deployment.sender.command({ channel: 'DOTHERS', userId: 'U1', responseUrl: responseUrl() }, 'whoami');
    await untilTrue(() => deployment.textsIn('D1').length === 1);
    expect(deployment.textsIn('D1')).toEqual([expect.stringContaining('Your chat id is U1')]);
    expect(deployment.textsIn('DOTHERS')).toEqual([]);
  });

  test('is answered once, to its sender alone, where the bot is not a member', async () => {
    refuse('not_in_channel', 20);
    deployment.chat.script(helloStream('Forty-two.'));
    await deployment.sender.command(inChannel(), 'what is six times seven?');
    await untilTrue(() => privately().length === 1);
    expect(privately()[0]).toMatchObject({ response_type: 'ephemeral', text: 'Forty-two.' });
    await untilTrue(isAnswered);
    expect([privately().length, deployment.textsIn('C1')]).toEqual([1, []]);
  });

  test('is answered in the channel where the bot is a member', async () => {
    deployment.chat.script(helloStream('Forty-two.'));
    await deployment.sender.command(inChannel(), 'what is six times seven?');
    await deployment.untilShown('C1', ['Forty-two.']);
    expect(privately()).toEqual([]);
  });

  test('falls back to the channel if the response address is used up, and retries a busy one', async () => {
    deployment.slack.responseStatuses.push(404);
    await deployment.sender.command(inChannel(), 'help');
    await untilTrue(() => deployment.textsIn('C1').length === 1);
    deployment.slack.responseStatuses.push(503);
    await deployment.sender.command({ ...inChannel(), channel: 'C2' }, 'help');
    await untilTrue(() => deployment.slack.responses.filter(({ status }) => status === 200).length === 1);
    await untilTrue(isAnswered);
    expect(deployment.textsIn('C2')).toEqual([]);
  });

  test('is refused if it is unsigned or too old', async () => {
    const late = createSlackSender(
      `${deployment.botUrl}/webhooks/slack`,
      'slack-signing-secret-0123456789',
      () => Date.now() - 400_000,
    );
    expect((await late.command(inChannel(), 'help'))[0]).toBe(401);
    const forger = createSlackSender(`${deployment.botUrl}/webhooks/slack`, 'another-signing-secret');
    expect((await forger.command(inChannel(), 'help'))[0]).toBe(401);
    await untilTrue(isAnswered);
    expect(privately()).toEqual([]);
  });
});
