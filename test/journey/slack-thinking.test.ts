import { expect, test } from '@jest/globals';
import { chunk, sse, type Answer } from '../chat/scripted-chat-server.ts';
import { useSlackTown } from '../support/slack-town.ts';
import { untilTrue } from '../support/town.ts';

let offsetMs = 0;
const town = useSlackTown({ nowMs: () => Date.now() + offsetMs });

const statuses = () =>
  town.slack.calls.filter(({ method }) => method.endsWith('setStatus')).map(({ args }) => args['status']);

/** Thinks in three pieces, five seconds of the bot's clock apart, each once the one before was noticed, and then answers. */
const slowThought: Answer = async (response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const [index, piece] of ['secret one', 'secret two', 'secret three'].entries()) {
    response.write(chunk({ reasoning_content: piece }));
    await untilTrue(() => statuses().length > index);
    offsetMs += 5_000;
  }
  response.end(chunk({ content: 'The answer.' }, 'stop') + sse('[DONE]'));
};

test.each([
  ['why?', ['Thinking, 1 s', 'Thinking, 3 s', 'Thinking, 9 s', '']],
  ['为什么？', ['思考中，1 秒', '思考中，3 秒', '思考中，9 秒', '']],
])('while the model thinks about %j, Slack shows for how long, and never what', async (question, expected) => {
  town.chat.script(slowThought);
  await town.startBot();
  await town.sender.mention({ channel: 'C1', userId: 'U1' }, question);
  await untilTrue(() => town.textsIn('C1').includes('The answer.'));
  await untilTrue(() => statuses().length === expected.length);
  expect(statuses()).toEqual(expected);
  expect(JSON.stringify(town.slack.calls)).not.toContain('secret');
});
