import { expect, test } from '@jest/globals';
import { helloStream, statusOf } from '../chat/scripted-chat-server.ts';
import { useSlackTown } from '../support/slack-town.ts';
import { untilTrue } from '../support/town.ts';

const town = useSlackTown();
const noneWaits = async () => (await town.redis.keys('*:pending')).length === 0;

test.each([
  { reply: 'stream', question: 'a question', word: '/retry', pointer: '↓ answered below' },
  { reply: 'edit', question: '一个问题', word: '重试', pointer: '↓ 回答在下方' },
])('$word with SLACK_REPLY=$reply: the new answer stands alone, the old one points to it', async (one) => {
  town.chat.script(helloStream('first answer'));
  await town.startBot({ SLACK_REPLY: one.reply });
  await town.sender.direct('U1', one.question);
  await town.untilShown('DU1', ['first answer']);
  await untilTrue(noneWaits);
  for (const answer of ['second answer', 'third answer']) {
    town.chat.script(helloStream(answer));
    await town.sender.direct('U1', one.word);
    await untilTrue(async () => town.textsIn('DU1').includes(answer) && (await noneWaits()));
  }
  expect(town.textsIn('DU1')).toEqual([one.pointer, one.pointer, 'third answer']);
});

test('an answer is not given up for one that could not be had', async () => {
  town.chat.script(helloStream('first answer'));
  await town.startBot();
  await town.sender.direct('U1', 'a question');
  await town.untilShown('DU1', ['first answer']);
  await untilTrue(noneWaits);
  town.chat.script(statusOf(400));
  await town.sender.direct('U1', '/retry');
  await untilTrue(async () => town.textsIn('DU1').length === 2 && (await noneWaits()));
  expect(town.textsIn('DU1')[0]).toBe('first answer');
});
