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

/** Goes on and on, a word every 30 ms, until nobody listens. */
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

/** What `npm run feedback` reads, without the ids that differ in each run. */
async function kept(): Promise<Record<string, string>[]> {
  const keys = await deployment.redis.keys('*:feedback:*');
  const hashes = await Promise.all(keys.map((key) => deployment.redis.hgetall(key)));
  return hashes.map((hash) =>
    Object.fromEntries(Object.entries(hash).map(([name, value]) => [name.replace(/:.*$/, ''), value])),
  );
}

describe.each(['stream', 'edit'])('what stands below an answer, SLACK_REPLY=%s [own-buttons]', (reply) => {
  test.each([
    { question: 'a question', shown: ['Good answer', 'Bad answer', 'Try again'] },
    { question: '一个问题', shown: ['回答得好', '回答不好', '重试'] },
  ])('in the asker’s language: $shown', async ({ question, shown }) => {
    await answered('an answer', { SLACK_REPLY: reply }, question);
    expect(labels()).toEqual(shown);
    expect(last().text).toBe('an answer');
  });

  test('one that failed can be tried again, and not be rated; a word’s answer has nothing', async () => {
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

  test('where the settings want none, there is none', async () => {
    await answered('an answer', { SLACK_REPLY: reply, SLACK_BUTTONS: 'no' });
    expect(labels()).toEqual([]);
  });

  test('where Slack takes no blocks, the answer stands without them', async () => {
    const refused = { kind: 'error', error: 'invalid_blocks' } as const;
    for (const method of ['chat.stopStream', 'chat.update', 'chat.postMessage'])
      deployment.slack.faults.set(method, [refused]);
    await answered('an answer', { SLACK_REPLY: reply });
    expect(last()).toMatchObject({ text: 'an answer', isStreaming: false });
  });
});

describe('the button that stops', () => {
  test('ends the answer of whoever asked, and goes with it; somebody else stops nothing and is told so', async () => {
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
  }, 30_000);

  test('pressed once more when all is said it stops nothing, and says so', async () => {
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
  }, 30_000);
});

test('the button that stops, in a view of an hour ago, stops nothing and says so to whoever presses it', async () => {
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
}, 30_000);

describe('the button that asks again [own-buttons]', () => {
  test('pressed twice, also by two receivers, gives one new answer; the old one points to it', async () => {
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

  test('somebody else asks nothing again, and is told so alone', async () => {
    deployment.chat.script(helloStream('for U1'));
    await deployment.startBot();
    await deployment.sender.mention({ channel: 'C1', userId: 'U1' }, 'a question');
    await deployment.untilShown('C1', ['for U1']);
    await untilTrue(noneWaits);
    expect(await press('Try again', { userId: 'U2' })).toEqual([200, '']);
    await untilTrue(() => told().length === 1);
    expect(told()[0]?.args).toMatchObject({ user: 'U2', text: expect.stringContaining('Only whoever asked this') });
    await sleep(200);
    expect(deployment.textsIn('C1')).toEqual(['for U1']);
    expect(deployment.chat.calls).toHaveLength(1);
  });

  test('at an answer that is not the last one it says so', async () => {
    await answered('first answer');
    const at = { ...last(), buttons: [...last().buttons] };
    deployment.chat.script(helloStream('another answer'));
    await deployment.sender.direct('U1', 'another question', { thread_ts: at.threadTs });
    await deployment.untilShown('DU1', ['first answer', 'another answer']);
    await untilTrue(noneWaits);
    await press('Try again', { at });
    await untilTrue(() => deployment.slack.messages.length === 3);
    expect(last().text).toContain('Only your newest question');
    expect(deployment.chat.calls).toHaveLength(2);
  });
});

describe('thumbs [feedback-kept]', () => {
  test('are counted and kept once, with model and rule, and taken for one when they change', async () => {
    await answered('an answer');
    await Promise.all([press('Good answer'), press('Good answer')]);
    await untilTrue(async () => (await kept()).length === 1);
    expect((await kept())[0]).toMatchObject({ platform: 'slack', verdict: 'good', model: expect.any(String) });
    expect((await kept())[0]).toMatchObject({ rule: expect.any(String), words: '', raters: '1' });
    await press('Bad answer');
    await untilTrue(async () => (await kept())[0]?.['verdict'] === 'bad');
    expect(deployment.lines.filter((line) => line.includes('an answer was rated'))).toHaveLength(2);
  });

  test('after “bad” the presser alone is asked why; the reason is kept, and thanked for in its place', async () => {
    await answered('一个回答', {}, '一个问题');
    await press('回答不好');
    await untilTrue(() => told().length === 1);
    const asked = told()[0]?.args ?? {};
    expect(asked).toMatchObject({ user: 'U1', text: '这个回答有什么问题？' });
    const wrong = buttonsOf(asked).find(({ label }) => label === '有错误');
    const responseUrl = `${new URL(deployment.slack.apiUrl).origin}/commands/why`;
    const at = { channel: 'DU1', ts: '1760001000.999999', threadTs: last().threadTs, userId: 'U1', responseUrl };
    expect(await deployment.sender.press(at, wrong ?? { action_id: '', value: '' })).toEqual([200, '']);
    await untilTrue(() => deployment.slack.responses.length === 1);
    expect(deployment.slack.responses[0]?.body).toMatchObject({ replace_original: true, text: '谢谢，已记录。' });
    expect((await kept())[0]).toMatchObject({ verdict: 'bad', reasons: 'wrong' });
    // The verdict once more changes nothing, and nobody is asked again.
    await press('回答不好');
    await sleep(200);
    expect(told()).toHaveLength(1);
    expect((await kept())[0]).toMatchObject({ reasons: 'wrong' });
  });

  test('thanks go to no address but Slack’s own', async () => {
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

  test('/forget takes what somebody thought of answers in this chat, and leaves the others’', async () => {
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
    ['a value of nobody’s', 'parley_feedback', 'good en xyz'],
    ['a word at another button', 'parley_retry', `good en ${'a'.repeat(40)}`],
    ['another app’s button', 'parley', `good en ${'a'.repeat(40)}`],
    ['a name of every object', 'constructor', `good en ${'a'.repeat(40)}`],
  ])('%s does nothing', async (_name, action_id, value) => {
    await deployment.startBot();
    const at = { channel: 'DU1', ts: '1760001000.000001', userId: 'U1' };
    expect(await deployment.sender.press(at, { action_id, value })).toEqual([200, '']);
    await sleep(100);
    expect(await deployment.redis.keys('*:feedback:*')).toEqual([]);
    expect(deployment.slack.messages).toEqual([]);
  });
});
