import { expect, test } from '@jest/globals';
import { got } from 'got';
import { countedStream, helloStream, stallAfter, chunk } from '../bot/model/scripted-chat-server.ts';
import { untilTrue } from '../support/deployment.ts';
import { useSlackDeployment } from '../support/slack-deployment.ts';

const deployment = useSlackDeployment();

test('SIGUSR2 switches the log of a running process to debug and back', async () => {
  deployment.chat.script(helloStream('Hello.'));
  const bot = await deployment.startProcess({ LOG_LEVEL: 'warn' });
  const lines = (words: string) =>
    bot
      .output()
      .split('\n')
      .filter((line) => line.includes(words));
  let asked = 0;
  const ask = async () => {
    asked += 1;
    await deployment.sender.direct('U1', `Question ${asked}`);
    await deployment.untilShown(
      'DU1',
      Array.from({ length: asked }, () => 'Hello.'),
      20_000,
    );
  };
  await ask();
  expect(lines('chat call ended')).toEqual([]);
  bot.kill('SIGUSR2');
  await untilTrue(() => lines('"logLevel":"debug"').length === 1);
  await ask();
  await untilTrue(() => lines('chat call ended').length === 1);
  bot.kill('SIGUSR2');
  await untilTrue(() => lines('"logLevel":"warn"').length === 1);
  await ask();
  expect(lines('chat call ended')).toHaveLength(1);
}, 60_000);

test('/metrics shows running turns, connections, and the tokens of each model as the engine counts them', async () => {
  deployment.chat.script(countedStream('Short.', 120, 9), stallAfter(chunk({ content: 'Never' })));
  await deployment.startBot();
  const valueOf = async (name: string) => {
    const text = await got(`${deployment.botUrl}/metrics`, { retry: { limit: 0 } }).text();
    return Number(
      text
        .split('\n')
        .find((line) => line.startsWith(`parley_${name} `))
        ?.split(' ')[1],
    );
  };
  await deployment.sender.direct('U1', 'A counted question');
  await deployment.untilShown('DU1', ['Short.'], 20_000);
  await untilTrue(async () => (await valueOf('running_turns')) === 0);
  expect(await valueOf('chat_tokens_total{model="svc-plus",kind="prompt"}')).toBe(120);
  expect(await valueOf('chat_tokens_total{model="svc-plus",kind="completion"}')).toBe(9);
  // At least the one of this request.
  expect(await valueOf('http_connections')).toBeGreaterThanOrEqual(1);
  await deployment.sender.direct('U1', 'A question whose answer does not end');
  await untilTrue(async () => (await valueOf('running_turns')) === 1);
  await deployment.sender.direct('U1', '/stop');
  await untilTrue(async () => (await valueOf('running_turns')) === 0);
}, 60_000);
