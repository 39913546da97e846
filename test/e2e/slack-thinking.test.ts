import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { chunk, sse, type Answer } from '../bot/model/scripted-chat-server.ts';
import { useSlackDeployment } from '../support/slack-deployment.ts';
import { untilTrue } from '../support/deployment.ts';

const deployment = useSlackDeployment();

const statuses = () =>
  deployment.slack.calls.filter(({ method }) => method.endsWith('setStatus')).map(({ args }) => args['status']);

/** Thinks in two parts more than three seconds apart, each sent once the previous one was shown, and then answers. */
const slowThought: Answer = async (response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const [index, piece] of ['secret one', 'secret two'].entries()) {
    response.write(chunk({ reasoning_content: piece }));
    await untilTrue(() => statuses().length > index);
    await sleep(3_100);
  }
  response.end(chunk({ content: 'The answer.' }, 'stop') + sse('[DONE]'));
};

test.each([
  ['why?', /^Thinking, (\d+) s$/],
  ['为什么？', /^思考中，(\d+) 秒$/],
])('while the model thinks about %j, Slack shows the duration and never the thought', async (question, thinking) => {
  deployment.chat.script(slowThought);
  await deployment.startBot();
  await deployment.sender.mention({ channel: 'C1', userId: 'U1' }, question);
  await untilTrue(() => deployment.textsIn('C1').includes('The answer.'), 20_000);
  await untilTrue(() => statuses().at(-1) === '');
  const seconds = statuses()
    .slice(0, -1)
    // Before the first thought, a slow machine may have shown that the answer is coming.
    .filter((status) => !/^(?:is writing|正在回答)/.test(String(status)))
    .map((status) => Number(thinking.exec(String(status))?.[1]));
  // In steps of three after the first one, however slow this machine is.
  expect(seconds[0]).toBe(1);
  expect(seconds.length).toBeGreaterThan(1);
  for (const [index, shown] of seconds.slice(1).entries()) {
    expect(shown % 3).toBe(0);
    expect(shown).toBeGreaterThan(seconds[index] ?? 0);
  }
  expect(JSON.stringify(deployment.slack.calls)).not.toContain('secret');
});
