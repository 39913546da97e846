import { beforeEach, describe, expect, test } from '@jest/globals';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { HOUR_MS, MINUTE_MS } from '../../src/shared/clock.ts';
import { helloStream, statusOf, type Answer } from '../bot/model/scripted-chat-server.ts';
import type { SlackMessage } from '../support/fake-slack.ts';
import { buttonsOf } from '../support/slack-buttons.ts';
import { untilTrue } from '../support/deployment.ts';
import { useSlackDeployment } from '../support/slack-deployment.ts';

let aheadMs = 0;
const deployment = useSlackDeployment({ nowMs: () => Date.now() + aheadMs });
beforeEach(() => void (aheadMs = 0));
const noneWaits = async () => (await deployment.redis.keys('*:pending')).length === 0;
const last = (): SlackMessage => deployment.slack.messages.at(-1) as SlackMessage;
const labels = () => last().buttons.map(({ label }) => label);
const told = () => deployment.slack.calls.filter(({ method }) => method === 'chat.postEphemeral');

/** Streams a word every 30 ms until the caller disconnects. */
const endless: Answer = async (response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (let word = 1; !response.destroyed; word += 1) {
    response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: `word${word} ` } }] })}\n\n`);
    await sleep(30);
  }
};

async function answered(answer: string, settings: Record<string, string> = {}, question = 'a question') {
  deployment.chat.script(helloStream(answer));
  await deployment.startBot(settings);
  await deployment.sender.direct('U1', question);
  await deployment.untilShown('DU1', [answer]);
  await untilTrue(noneWaits);
}

function press(label: string, by: { userId?: string; at?: SlackMessage; responseUrl?: string } = {}) {
  const { userId = 'U1', at = last(), responseUrl } = by;
  const { channel, ts, threadTs } = at;
  const button = at.buttons.find((one) => one.label === label);
  if (!button) throw new Error(`There is no button ${label}`);
  return deployment.sender.press({ channel, ts, threadTs, userId, responseUrl }, button);
}

/** The data that `npm run feedback` reads, without the ids that differ in each run. */
async function kept(): Promise<Record<string, string>[]> {
  const keys = await deployment.redis.keys('*:feedback:*');
  const hashes = await Promise.all(keys.map((key) => deployment.redis.hgetall(key)));
  return hashes.map((hash) =>
    Object.fromEntries(Object.entries(hash).map(([name, value]) => [name.replace(/:.*$/, ''), value])),
  );
}

describe.each(['stream', 'edit'])('the buttons below an answer, SLACK_REPLY=%s [own-buttons]', (reply) => {
  test.each([
    { question: 'a question', shown: ['Good answer', 'Bad answer', 'Try again'] },
    { question: '一个问题', shown: ['有帮助', '没有帮助', '重试'] },
  ])('use the language of the asker: $shown', async ({ question, shown }) => {
    await answered('an answer', { SLACK_REPLY: reply }, question);
    expect(labels()).toEqual(shown);
    expect(last().text).toBe('an answer');
  });

  test('offer only "Try again" below a failed answer, and nothing below the answer to a slash word', async () => {
    deployment.chat.script(statusOf(400));
    await deployment.startBot({ SLACK_REPLY: reply });
    await deployment.sender.direct('U1', 'a question');
    await untilTrue(() => deployment.slack.messages.length === 1);
    await untilTrue(noneWaits);
    expect(labels()).toEqual(['Try again']);
    await deployment.sender.direct('U1', '/help');
    await untilTrue(() => deployment.slack.messages.length === 2);
    await untilTrue(noneWaits);
    expect(labels()).toEqual([]);
  });

  test('are absent if the settings disable them', async () => {
    await answered('an answer', { SLACK_REPLY: reply, SLACK_BUTTONS: 'no' });
    expect(labels()).toEqual([]);
  });

  test('are left out, and the answer is shown, when Slack refuses blocks', async () => {
    const refused = { kind: 'error', error: 'invalid_blocks' } as const;
    for (const method of ['chat.stopStream', 'chat.update', 'chat.postMessage'])
      deployment.slack.faults.set(method, [refused]);
    await answered('an answer', { SLACK_REPLY: reply });
    expect(last()).toMatchObject({ text: 'an answer', isStreaming: false });
  });
});

describe('the Stop button', () => {
  test('ends the answer for its asker and disappears; a press by another person only causes a notice', async () => {
    deployment.chat.script(endless);
    await deployment.startBot({ SLACK_REPLY: 'edit' });
    const ts = await deployment.sender.mention({ channel: 'C1', userId: 'U1' }, 'a question');
    await untilTrue(() => deployment.textsIn('C1').join('').includes('word2') && labels().includes('Stop'));
    expect(await press('Stop', { userId: 'U2' })).toEqual([200, '']);
    await untilTrue(() => told().length === 1);
    expect(told()[0]?.args).toMatchObject({ channel: 'C1', user: 'U2', thread_ts: ts });
    expect(last().note).toBe('');
    expect(await press('Stop')).toEqual([200, '']);
    await untilTrue(() => last().note === 'Stopped.');
    expect(labels()).toEqual(['Try again']);
    expect(await deployment.chat.calls[0]?.closed).toBe('cut');
  }, 60_000);

  test('says that there is nothing to stop when pressed again after the answer has ended', async () => {
    deployment.chat.script(endless);
    await deployment.startBot({ SLACK_REPLY: 'edit' });
    await deployment.sender.direct('U1', 'a question');
    await untilTrue(() => deployment.textsIn('DU1').join('').includes('word2') && labels().includes('Stop'));
    const growing = { ...last(), buttons: [...last().buttons] };
    await press('Stop', { at: growing });
    await untilTrue(() => last().note === 'Stopped.');
    await untilTrue(noneWaits);
    deployment.chat.script(endless);
    await deployment.sender.direct('U1', 'another');
    await untilTrue(() => deployment.slack.messages.length === 2 && last().text.includes('word2'));
    await press('Stop', { at: growing });
    await untilTrue(() => told().length === 1);
    const { length } = last().text;
    await untilTrue(() => last().text.length > length + 20);
    await press('Stop');
    await untilTrue(() => last().note === 'Stopped.');
  }, 60_000);
});

test('the Stop button in a view that is an hour old stops nothing and says so to the person who pressed it', async () => {
  deployment.chat.script(endless);
  await deployment.startBot({ SLACK_REPLY: 'edit' });
  await deployment.sender.direct('U1', 'a question');
  await untilTrue(() => deployment.textsIn('DU1').join('').includes('word2') && labels().includes('Stop'));
  const growing = { ...last(), buttons: [...last().buttons] };
  await press('Stop');
  await untilTrue(() => last().note === 'Stopped.');
  await untilTrue(noneWaits);
  const { text } = last();
  aheadMs = HOUR_MS + MINUTE_MS;
  expect(await press('Stop', { at: growing })).toEqual([200, '']);
  await untilTrue(() => told().length === 1);
  expect(deployment.slack.messages.map((one) => [one.text, one.note])).toEqual([[text, 'Stopped.']]);
}, 60_000);

describe('the "Try again" button [own-buttons]', () => {
  test('gives one new answer when pressed twice, also through two receivers, and the old one points to it', async () => {
    await answered('first answer');
    deployment.chat.script(helloStream('second answer'), helloStream('third answer'));
    const at = { ...last(), buttons: [...last().buttons] };
    await Promise.all([press('Try again', { at }), press('Try again', { at })]);
    await deployment.untilShown('DU1', ['↓ answered below', 'second answer']);
    await untilTrue(noneWaits);
    await press('Try again', { at });
    await untilTrue(() => told().length >= 2);
    expect(deployment.textsIn('DU1')).toEqual(['↓ answered below', 'second answer']);
    expect(deployment.chat.calls).toHaveLength(2);
    await press('Try again');
    await deployment.untilShown('DU1', ['↓ answered below', '↓ answered below', 'third answer']);
  });

  test('starts nothing for another person, who gets a private notice', async () => {
    deployment.chat.script(helloStream('for U1'));
    await deployment.startBot();
    await deployment.sender.mention({ channel: 'C1', userId: 'U1' }, 'a question');
    await deployment.untilShown('C1', ['for U1']);
    await untilTrue(noneWaits);
    expect(await press('Try again', { userId: 'U2' })).toEqual([200, '']);
    await untilTrue(() => told().length === 1);
    expect(told()[0]?.args).toMatchObject({ user: 'U2', text: expect.stringContaining('Only the person who asked') });
    await sleep(200);
    expect(deployment.textsIn('C1')).toEqual(['for U1']);
    expect(deployment.chat.calls).toHaveLength(1);
  });

  test('says at an older answer that it is not the newest', async () => {
    await answered('first answer');
    const at = { ...last(), buttons: [...last().buttons] };
    deployment.chat.script(helloStream('another answer'));
    await deployment.sender.direct('U1', 'another question', { thread_ts: at.threadTs });
    await deployment.untilShown('DU1', ['first answer', 'another answer']);
    await untilTrue(noneWaits);
    await press('Try again', { at });
    await untilTrue(() => deployment.slack.messages.length === 3);
    expect(last().text).toContain('Only your latest question');
    expect(deployment.chat.calls).toHaveLength(2);
  });
});

describe('ratings [feedback-kept]', () => {
  test('are counted and stored once with model and rule, and a changed rating replaces the old one', async () => {
    await answered('an answer');
    await Promise.all([press('Good answer'), press('Good answer')]);
    await untilTrue(async () => (await kept()).length === 1);
    expect((await kept())[0]).toMatchObject({ platform: 'slack', verdict: 'good', model: expect.any(String) });
    expect((await kept())[0]).toMatchObject({ rule: expect.any(String), words: '', raters: '1' });
    await press('Bad answer');
    await untilTrue(async () => (await kept())[0]?.['verdict'] === 'bad');
    expect(deployment.lines.filter((line) => line.includes('an answer was rated'))).toHaveLength(2);
  });

  test('ask for a reason privately after "bad", store it, and show thanks in place of the question', async () => {
    await answered('一个回答', {}, '一个问题');
    await press('没有帮助');
    await untilTrue(() => told().length === 1);
    const asked = told()[0]?.args ?? {};
    expect(asked).toMatchObject({ user: 'U1', text: '这个回答有什么问题？' });
    const wrong = buttonsOf(asked).find(({ label }) => label === '有错误');
    const responseUrl = `${new URL(deployment.slack.apiUrl).origin}/commands/why`;
    const at = { channel: 'DU1', ts: '1760001000.999999', threadTs: last().threadTs, userId: 'U1', responseUrl };
    expect(await deployment.sender.press(at, wrong ?? { action_id: '', value: '' })).toEqual([200, '']);
    await untilTrue(() => deployment.slack.responses.length === 1);
    expect(deployment.slack.responses[0]?.body).toMatchObject({ replace_original: true, text: '感谢你的反馈。' });
    expect((await kept())[0]).toMatchObject({ verdict: 'bad', reasons: 'wrong' });
    // The same rating again changes nothing, and the reason is not asked for again.
    await press('没有帮助');
    await sleep(200);
    expect(told()).toHaveLength(1);
    expect((await kept())[0]).toMatchObject({ reasons: 'wrong' });
  });

  test('send thanks only to an address of Slack', async () => {
    const thief = createServer((_request, response) => response.end());
    const asked: unknown[] = [];
    thief.on('request', ({ url }) => asked.push(url));
    await new Promise<void>((resolve) => thief.listen(0, '127.0.0.1', resolve));
    await answered('an answer');
    const value = `wrong en ${last().buttons[0]?.value.split(' ')[2] ?? ''}`;
    const at = { ...last(), userId: 'U1', responseUrl: `http://127.0.0.1:${(thief.address() as AddressInfo).port}/` };
    await deployment.sender.press(at, { action_id: 'parley_reason_wrong', value });
    await untilTrue(async () => (await kept())[0]?.['reasons'] === 'wrong');
    await sleep(200);
    thief.close();
    expect(asked).toEqual([]);
  });

  test('are deleted by /forget for one person in this chat, while those of other people are kept', async () => {
    deployment.chat.script(helloStream('for all'));
    await deployment.startBot();
    const ts = await deployment.sender.mention({ channel: 'C1', userId: 'U1' }, 'a question');
    await deployment.untilShown('C1', ['for all']);
    await untilTrue(noneWaits);
    await press('Bad answer');
    await press('Good answer', { userId: 'U2' });
    await untilTrue(async () => (await kept())[0]?.['raters'] === '2');
    const of = async (name: string) => {
      const [key = ''] = await deployment.redis.keys('*:feedback:*');
      return (await deployment.redis.hkeys(key)).filter((field) => field.startsWith(name)).length;
    };
    expect(await of('verdict:')).toBe(2);
    await deployment.sender.mention({ channel: 'C1', userId: 'U1', threadTs: ts }, '/forget');
    await untilTrue(async () => (await of('verdict:')) === 1);
    expect(await of('at:')).toBe(1);
  });

  test.each([
    ['an unknown value', 'parley_feedback', 'good en xyz'],
    ['a slash word at another button', 'parley_retry', `good en ${'a'.repeat(40)}`],
    ['a button of another app', 'parley', `good en ${'a'.repeat(40)}`],
    ['a property name of every object', 'constructor', `good en ${'a'.repeat(40)}`],
  ])('a press with %s does nothing', async (_name, action_id, value) => {
    await deployment.startBot();
    const at = { channel: 'DU1', ts: '1760001000.000001', userId: 'U1' };
    expect(await deployment.sender.press(at, { action_id, value })).toEqual([200, '']);
    await sleep(100);
    expect(await deployment.redis.keys('*:feedback:*')).toEqual([]);
    expect(deployment.slack.messages).toEqual([]);
  });
});
