import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { helloStream } from '../bot/model/scripted-chat-server.ts';
import { words } from '../bot/reply/pulled-fixture.ts';
import { REPLY_TEXTS } from '../../src/bot/i18n/reply-texts.ts';
import { useSlackDeployment } from '../support/slack-deployment.ts';
import { untilTrue } from '../support/deployment.ts';
import { startWecomReplies, type WecomReplies } from '../support/wecom-replies.ts';

// Answers of about 35 KB; a WeCom message holds 20 KB.

const deployment = useSlackDeployment();
let wecom: WecomReplies;
beforeEach(async () => {
  wecom = await startWecomReplies(() => deployment.botUrl);
  Object.assign(deployment.env, wecom.env);
});
afterEach(() => wecom.close());

const LONG = Array.from({ length: 1_300 }, (_, line) => `line ${line} of a long answer`).join('\n');
const isSettled = async () => (await deployment.redis.keys('{p*}:follow-up*')).length === 0;

test('while WeCom rate-limits posts, the next question is answered, and the rest follows once', async () => {
  deployment.chat.script(helloStream(LONG), helloStream('Short.'));
  await deployment.startBot();
  wecom.answers.push('busy', 'busy', (response) => void response.destroy());
  const beginning = await wecom.ask('a long one');
  expect(beginning).toContain(REPLY_TEXTS.goesOn.en);
  await untilTrue(() => wecom.posted.length > 0);
  expect(await wecom.ask('a short one')).toBe('Short.');
  await untilTrue(isSettled);
  expect(new Set(wecom.posted).size).toBe(1);
  expect(wecom.posted).toHaveLength(4);
  expect(words(beginning, wecom.posted[0] ?? '')).toEqual(words(LONG));
}, 60_000);

test('while WeCom does not trust the address of the bot, the rest is kept and reported, and it is posted once WeCom does', async () => {
  const get = async (path: string) => (await fetch(`${deployment.botUrl}${path}`)).text();
  const partOfWecom = async () =>
    (JSON.parse(await get('/readyz')) as { parts: Record<string, string> }).parts['wecom'];
  deployment.chat.script(helloStream(LONG));
  await deployment.startBot();
  await untilTrue(async () => (await partOfWecom()) === 'ready');
  wecom.answers.push(...Array.from({ length: 1_000 }, () => 'unauthorised' as const));
  const beginning = await wecom.ask('a long one');
  await untilTrue(async () => /60020.*stored/.test((await partOfWecom()) ?? ''));
  expect(await get('/metrics')).toMatch(/parley_platform_calls_unauthorised_total\{platform="wecom",code="60020"\} \d/);
  expect(deployment.lines.filter((line) => line.includes('the platform refuses all calls'))).toHaveLength(1);
  wecom.answers.length = 0;
  await untilTrue(isSettled);
  expect(words(beginning, wecom.posted.at(-1) ?? '')).toEqual(words(LONG));
  expect(await partOfWecom()).toBe('ready');
}, 60_000);

test('a rest that cannot be posted precedes the next private reply to the same person only', async () => {
  deployment.chat.script(helloStream(LONG), helloStream('Short.'));
  await deployment.startBot();
  wecom.answers.push('refused');
  const beginning = await wecom.ask('a long one', { groupId: 'wrgroup' });
  await untilTrue(isSettled);
  expect(await wecom.ask('asked before many others', { groupId: 'wrgroup' })).toBe('Short.');
  expect(await wecom.ask('mine', { userid: 'lisi' })).toBe('Short.');
  const [rest = '', answer] = (await wecom.ask('my own')).split('\n\n---\n\n');
  expect(answer).toBe('Short.');
  expect(rest).toContain(REPLY_TEXTS.restOfAnswer.en);
  expect(words(beginning, rest.replace(REPLY_TEXTS.restOfAnswer.en, ''))).toEqual(words(LONG));
  expect(await wecom.ask('once more')).toBe('Short.');
}, 60_000);

test('a Slack answer whose echo is far larger than its text is written once', async () => {
  const text = Array.from({ length: 1_400 }, (_, index) => `w${index}`).join(' ');
  deployment.chat.script(helloStream(text));
  await deployment.startBot();
  await deployment.sender.direct('U1', 'hello');
  const { messages, removed, calls } = deployment.slack;
  await untilTrue(() => messages.some((message) => !message.isStreaming && message.text === text));
  await untilTrue(isSettled);
  expect([messages.length, removed.length]).toEqual([1, 0]);
  expect(calls.filter(({ method }) => method.startsWith('conversations.'))).toEqual([]);
}, 60_000);
