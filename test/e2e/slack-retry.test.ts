import { expect, test } from '@jest/globals';
import { helloStream, statusOf } from '../bot/model/scripted-chat-server.ts';
import { useSlackDeployment } from '../support/slack-deployment.ts';
import { untilTrue } from '../support/deployment.ts';

const deployment = useSlackDeployment();
const noneWaits = async () => (await deployment.redis.keys('*:pending')).length === 0;

test.each([
  { reply: 'stream', question: 'a question', word: '/retry', pointer: '↓ answered below' },
  { reply: 'edit', question: '一个问题', word: '重试', pointer: '↓ 回答在下方' },
])('$word with SLACK_REPLY=$reply keeps only the new answer, and the old one points to it', async (one) => {
  deployment.chat.script(helloStream('first answer'));
  await deployment.startBot({ SLACK_REPLY: one.reply });
  await deployment.sender.direct('U1', one.question);
  await deployment.untilShown('DU1', ['first answer']);
  await untilTrue(noneWaits);
  for (const answer of ['second answer', 'third answer']) {
    deployment.chat.script(helloStream(answer));
    await deployment.sender.direct('U1', one.word);
    await untilTrue(async () => deployment.textsIn('DU1').includes(answer) && (await noneWaits()));
  }
  expect(deployment.textsIn('DU1')).toEqual([one.pointer, one.pointer, 'third answer']);
});

test('a failed retry keeps the old answer', async () => {
  deployment.chat.script(helloStream('first answer'));
  await deployment.startBot();
  await deployment.sender.direct('U1', 'a question');
  await deployment.untilShown('DU1', ['first answer']);
  await untilTrue(noneWaits);
  deployment.chat.script(statusOf(400));
  await deployment.sender.direct('U1', '/retry');
  await untilTrue(async () => deployment.textsIn('DU1').length === 2 && (await noneWaits()));
  expect(deployment.textsIn('DU1')[0]).toBe('first answer');
});
