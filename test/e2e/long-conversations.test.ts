import { beforeEach, expect, test } from '@jest/globals';
import { HOUR_MS } from '../../src/shared/clock.ts';
import {
  chunk,
  helloStream,
  jsonOf,
  sse,
  statusOf,
  streamOf,
  type Answer,
  type ReceivedCall,
} from '../bot/model/scripted-chat-server.ts';
import { bothPlatforms, PLATFORMS, type Seen } from '../support/both-platforms.ts';
import { useSlackDeployment } from '../support/slack-deployment.ts';
import { untilTrue } from '../support/deployment.ts';

let offsetMs = 0;
const deployment = useSlackDeployment({ nowMs: () => Date.now() + offsetMs });
beforeEach(() => void (offsetMs = 0));

const TOO_LONG = jsonOf(
  { error: { message: 'x', type: 'x', param: 'messages', code: 'context_length_exceeded' } },
  400,
);

/** Summaries are not tested here. Prompts that request a summary are excluded. */
const isForSummary = ({ body }: ReceivedCall) => JSON.stringify(body['messages']).includes('You keep the notes');

/** Sends a message and waits until there is a new answer. */
async function sayInSlack(text: string): Promise<void> {
  const shown = deployment.textsIn('DU1').length;
  await deployment.sender.direct('U1', text);
  await untilTrue(() => deployment.textsIn('DU1').length > shown);
}

/** Asks and waits until the turn has ended. @returns the prompts of the model calls meanwhile, as text */
async function ask(
  text: string,
  answers: Answer[] = [helloStream(`answer to ${text}`)],
  say: (text: string) => Promise<unknown> = sayInSlack,
): Promise<string[]> {
  const before = deployment.chat.calls.length;
  const left = [...answers];
  deployment.chat.script((response, call) =>
    isForSummary(call) ? statusOf(400)(response, call) : (left.length > 1 ? left.shift() : left[0])?.(response, call),
  );
  await say(text);
  await untilTrue(async () => (await deployment.redis.keys('*:pending')).length === 0);
  const calls = deployment.chat.calls.slice(before).filter((call) => !isForSummary(call));
  return calls.map(({ body }) => JSON.stringify(body['messages']));
}

const statuses = () =>
  deployment.slack.calls.filter(({ method }) => method.endsWith('setStatus')).map(({ args }) => String(args['status']));

test('after the idle time a new conversation begins with a notice, and no prompt contains the old one', async () => {
  await deployment.startBot({ CONVERSATION_IDLE_SEC: '3600' });
  await ask('first-canary');
  offsetMs += HOUR_MS - 60_000;
  expect((await ask('second')).join()).toContain('first-canary');
  offsetMs += HOUR_MS + 60_000;
  expect((await ask('third')).join()).not.toMatch(/first-canary|second/);
  expect(statuses().filter((status) => status.includes('new one'))).toHaveLength(1);
  const fourth = (await ask('fourth')).join();
  expect(fourth).toContain('third');
  expect(fourth).not.toMatch(/first-canary|second/);
});

test('CONVERSATION_IDLE_SEC=0 never ends a conversation', async () => {
  await deployment.startBot({ CONVERSATION_IDLE_SEC: '0' });
  await ask('first-canary');
  offsetMs += 1_000 * HOUR_MS;
  expect((await ask('second')).join()).toContain('first-canary');
});

test('/retry after the idle time repeats its question in its original conversation', async () => {
  await deployment.startBot({ CONVERSATION_IDLE_SEC: '3600' });
  await ask('first-canary');
  await ask('second');
  offsetMs += 5 * HOUR_MS;
  const [prompt = ''] = await ask('/retry', [helloStream('again')]);
  expect(prompt).toContain('first-canary');
  expect(prompt.match(/second/g)).toHaveLength(1);
});

test('a prompt that is too long is compacted once, and the question is answered with the newest turns', async () => {
  await deployment.startBot();
  for (const name of ['one', 'two', 'three']) await ask(`${name} ${'word '.repeat(200)}`);
  const prompts = await ask('now?', [TOO_LONG, helloStream('the answer')]);
  expect(prompts).toHaveLength(2);
  expect(prompts[0]).toContain('one word');
  expect(prompts[1]).not.toContain('one word');
  expect(prompts[1]).toContain('three word');
  expect(deployment.textsIn('DU1').at(-1)).toBe('the answer');
});

test.each(
  PLATFORMS.flatMap((platform) => [
    {
      platform,
      question: 'now?',
      told: 'Our conversation became too long for the model, so this is a new one.',
    },
    { platform, question: '现在呢？', told: '之前的对话过长，模型无法处理，已开始新的对话。' },
  ]),
)(
  'on $platform, if even that is too long, “$question” starts a new conversation with a notice, and the next prompt fits',
  async ({ platform, question, told }) => {
    const { env, sayAll } = bothPlatforms(deployment);
    let seen: Seen | undefined;
    const say = async (text: string) => ([seen] = await sayAll(platform, [{ person: 'U1', text }]));
    await deployment.startBot(env);
    for (const name of ['one', 'two', 'three']) await ask(`${name} ${'word '.repeat(200)}`, undefined, say);
    const prompts = await ask(question, [TOO_LONG, TOO_LONG, helloStream('the answer')], say);
    expect(prompts).toHaveLength(3);
    expect(prompts[2]).not.toContain('word word');
    expect(seen?.snapshots.at(-1)).toBe('the answer');
    expect(seen?.apart).toContainEqual(expect.stringContaining(told));
    const next = await ask('and then?', undefined, say);
    expect(next).toHaveLength(1);
    expect(next[0]).toContain(question);
    expect(next[0]).not.toContain('word word');
  },
);

test('a question that is too long by itself is refused, and the conversation stays unchanged', async () => {
  await deployment.startBot();
  await ask('first-canary');
  await ask('far too long', [TOO_LONG]);
  expect(deployment.textsIn('DU1').at(-1)).toContain('This is too long for the model');
  expect((await ask('second')).join()).toContain('first-canary');
});

test('token counts of the service correct the estimate: prompts contain fewer turns when words cost more', async () => {
  await deployment.startBot({ CHAT_PROMPT_TOKENS: '2500' });
  const usage = (promptTokens: number) =>
    sse({
      id: 'c1',
      object: 'chat.completion.chunk',
      created: 1,
      model: 'svc-plus',
      choices: [],
      usage: { prompt_tokens: promptTokens, completion_tokens: 1 },
    });
  const counted = (promptTokens: number) =>
    streamOf(chunk({ content: 'ok' }, 'stop'), usage(promptTokens), sse('[DONE]'));
  for (let count = 0; count < 12; count += 1) await ask(`${count} ${'word '.repeat(100)}`);
  const [before = ''] = await ask('now?', [counted(7_500)]);
  for (let count = 0; count < 6; count += 1) await ask(`more ${'word '.repeat(100)}`, [counted(7_500)]);
  const [after = ''] = await ask('now?');
  expect(before.length).toBeGreaterThan(6_000);
  expect(after.length).toBeLessThan(before.length * 0.7);
});
