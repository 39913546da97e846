import { expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { chunk, sse } from '../bot/model/scripted-chat-server.ts';
import { useSlackDeployment } from '../support/slack-deployment.ts';
import { untilTrue } from '../support/deployment.ts';

const deployment = useSlackDeployment();
const WORDS = Array.from({ length: 60 }, (_, index) => `${index + 1}`);

test('an event loop blocked for two seconds loses no lock and no turn, and its lag is reported [blocked-loop] [quick-takeover]', async () => {
  deployment.chat.script(async (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const [index, word] of WORDS.entries()) {
      response.write(chunk({ content: index === 0 ? word : ` ${word}` }));
      await sleep(100);
    }
    response.end(chunk({}, 'stop') + sse('[DONE]'));
  });
  const bot = await deployment.startProcess({
    NODE_OPTIONS: `--import=${new URL('../support/block-on-signal.mjs', import.meta.url).pathname}`,
  });
  await deployment.sender.direct('U1', 'count, please');
  await untilTrue(() => deployment.textsIn('DU1').length === 1);
  bot.kill('SIGUSR2');
  await deployment.untilShown('DU1', [WORDS.join(' ')], 20_000);
  expect(deployment.chat.calls).toHaveLength(1);
  expect(bot.output()).not.toMatch(/silent worker|not renewed in time|resumes after its worker died/);
  const metrics = await (await fetch(`${deployment.botUrl}/metrics`)).text();
  const lagSec = Number(/^nodejs_eventloop_lag_max_seconds (\S+)/m.exec(metrics)?.[1]);
  expect(lagSec).toBeGreaterThan(1.5);
  process.stdout.write(`blocked-loop: a lag of ${lagSec.toFixed(1)} s, one model call, no stall\n`);
}, 60_000);
