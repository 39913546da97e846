import { expect, test } from '@jest/globals';
import { countedStream, helloStream } from '../bot/model/scripted-chat-server.ts';
import { useSlackDeployment } from '../support/slack-deployment.ts';
import { untilTrue } from '../support/deployment.ts';

const deployment = useSlackDeployment();

const done = () => untilTrue(async () => (await deployment.redis.keys('*:pending')).length === 0);

/** Sends a message and waits until the turn has ended. @returns the newest message of the bot in the channel */
async function say(userId: string, text: string, place: { channel?: string; threadTs?: string } = {}): Promise<string> {
  const { channel = `D${userId}`, threadTs } = place;
  const shown = deployment.textsIn(channel).length;
  if (place.channel === undefined)
    await deployment.sender.direct(userId, text, threadTs === undefined ? {} : { thread_ts: threadTs });
  else await deployment.sender.mention({ channel, userId, ...(threadTs === undefined ? {} : { threadTs }) }, text);
  await untilTrue(() => deployment.textsIn(channel).length > shown);
  await done();
  return deployment.textsIn(channel).at(-1) ?? '';
}
const promptsSince = (count: number) =>
  deployment.chat.calls
    .slice(count)
    .map(({ body }) => JSON.stringify(body['messages']))
    .join();
const kept = async (kind: string) => (await deployment.redis.keys(`*:${kind}:*`)).length;

test('/usage reports the questions and tokens of one person as counted by the service', async () => {
  await deployment.startBot();
  deployment.chat.script(countedStream('ok', 1_000, 34));
  await say('U1', 'one');
  await say('U1', 'two');
  await say('U2', 'of another');
  expect(await say('U1', '/usage')).toBe(
    'Today: 2 questions, about 2068 tokens. This month: 2 questions, about 2068 tokens.',
  );
  expect(await say('U1', '用量')).toContain('今天：2 个问题，约 2068 tokens');
  expect(await say('U3', '/usage')).toContain('Today: 0 questions, about 0 tokens.');
  for (const key of await deployment.redis.keys('*:usage:*')) {
    expect(key).not.toContain('U1');
    expect(await deployment.redis.pttl(key)).toBeGreaterThan(0);
  }
});

test('/usage estimates tokens when the service reports none [input-limits]', async () => {
  await deployment.startBot();
  deployment.chat.script(helloStream('an answer'));
  await say('U1', 'a question');
  const [, tokens] = /about (\d+) tokens/.exec(await say('U1', '/usage')) ?? [];
  expect(Number(tokens)).toBeGreaterThan(100);
  expect(Number(tokens)).toBeLessThan(2_000);
});

test('/export returns the stored private conversation, oldest first, in both languages', async () => {
  await deployment.startBot();
  expect(await say('U1', '/export')).toBe('There is nothing to export.');
  deployment.chat.script(helloStream('first answer'), helloStream('第二个回答'));
  await say('U1', 'first question');
  await say('U1', '第二个问题');
  const text = await say('U1', '/export en');
  expect(text.indexOf('> first question')).toBeLessThan(text.indexOf('> 第二个问题'));
  expect(text).toMatch(/questions?:|个问题：/);
  expect(text).toContain('first answer');
  expect(await say('U1', '导出')).toContain('我们的对话，共 2 个问题');
  expect(await say('U1', '/export', { channel: 'C1' })).toContain('private chat');
  expect(promptsSince(0)).not.toContain('/export');
});

test('a long /export is a file, where the platform takes files', async () => {
  await deployment.startBot();
  deployment.chat.script(helloStream('a'.repeat(15_000)));
  for (const name of ['one', 'two', 'three']) await say('U1', `question ${name}`);
  await deployment.sender.direct('U1', '/export');
  await untilTrue(() => deployment.slack.botFiles.some(({ shownIn }) => shownIn.length > 0));
  await done();
  const [exported] = deployment.slack.botFiles.filter(({ shownIn }) => shownIn.length > 0);
  expect(exported?.text).toMatch(/question one[\s\S]*question two[\s\S]*question three/);
});

test('/forget deletes a private chat with its threads, and no later prompt contains it', async () => {
  await deployment.startBot();
  deployment.chat.script(helloStream('secret answer'));
  const shown = deployment.textsIn('DU1').length;
  const ts = await deployment.sender.direct('U1', 'secret question');
  await untilTrue(() => deployment.textsIn('DU1').length > shown);
  await done();
  await say('U1', 'secret in the thread', { threadTs: ts });
  expect(await kept('history')).toBe(2);
  expect(await say('U1', '/forget')).toContain('I have deleted your questions, my answers');
  expect(await kept('history')).toBe(0);
  expect(await kept('threads')).toBe(0);
  const before = deployment.chat.calls.length;
  await say('U1', 'in the thread again', { threadTs: ts });
  await say('U1', 'and here');
  expect(promptsSince(before)).not.toContain('secret');
  expect(await say('U1', '清除')).toContain('已删除');
});

test('/forget deletes the choices of one person in the chat, and keeps those of other people and chats', async () => {
  await deployment.startBot();
  deployment.chat.script(helloStream('an answer'));
  const places = [
    ['U1', {}],
    ['U1', { channel: 'C1' }],
    ['U2', { channel: 'C1' }],
  ] as const;
  for (const [userId, place] of places) await say(userId, '/lang zh', place);
  expect(await say('U1', '/forget', { channel: 'C1' })).toContain('以及你的设置');
  const spoken = [];
  for (const [userId, place] of places) spoken.push((await say(userId, '/lang', place)).slice(0, 1));
  const isChinese = spoken.map((letter) => /\p{Script=Han}/u.test(letter));
  expect(isChinese).toEqual([true, false, true]);
});

test('/export says "1 question" in the singular', async () => {
  await deployment.startBot();
  deployment.chat.script(countedStream('ok', 1, 0), helloStream('an answer'));
  await say('U1', 'one');
  expect(await say('U1', '/usage')).toBe('Today: 1 question, about 1 token. This month: 1 question, about 1 token.');
  expect(await say('U1', '/export')).toMatch(/^Our conversation, 1 question:/);
});

test("/forget in a group deletes one person's own words, also in threads, and keeps those of others", async () => {
  await deployment.startBot({ GROUP_SCOPE: 'group' });
  deployment.chat.script(helloStream('fine'));
  const ts = await deployment.sender.mention({ channel: 'C1', userId: 'U1' }, 'words of one');
  await untilTrue(() => deployment.textsIn('C1').length === 1);
  await done();
  await say('U2', 'words of two', { channel: 'C1' });
  await say('U2', 'thread words of two', { channel: 'C1', threadTs: ts });
  await say('U1', 'thread words of one', { channel: 'C1', threadTs: ts });
  await say('U1', '/forget', { channel: 'C1' });
  const before = deployment.chat.calls.length;
  await say('U2', 'now?', { channel: 'C1' });
  await say('U2', 'and now?', { channel: 'C1', threadTs: ts });
  const prompts = promptsSince(before);
  expect(prompts).not.toContain('words of one');
  expect(prompts).toContain('"words of two');
  expect(prompts).toContain('thread words of two');
});
