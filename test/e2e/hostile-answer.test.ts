import { expect, test } from '@jest/globals';
import { chunk, sse, type Answer } from '../bot/model/scripted-chat-server.ts';
import { useSlackDeployment } from '../support/slack-deployment.ts';
import { untilTrue } from '../support/deployment.ts';

const deployment = useSlackDeployment();
/** Texts of the maximum answer length. Each of them once took minutes or more to process. */
const WORST = [
  `It begins.${' '.repeat(199_980)}It ends.`,
  `It begins. [a](${'b(c[a]('.repeat(28_000)} It ends.`,
  `It begins. [a]: b "${'c\n'.repeat(99_000)} It ends.`,
  `It begins. http://a.b/${')'.repeat(199_900)} It ends.`,
];
const OTHERS = 20;
/**
 * Far above the lag that one turn may cause, to allow for a busy machine. Processing any of these texts on the event loop
 * took minutes.
 */
const MAX_LAG_SEC = 6;

/** Streams the answer in chunks, so that it is shown while it grows. */
const slowly = (text: string): Answer => {
  return async (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (let at = 0; at < text.length; at += 10_000) {
      response.write(chunk({ content: text.slice(at, at + 10_000) }));
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    response.end(chunk({}, 'stop') + sse('[DONE]'));
  };
};

test('hostile answers of 200,000 characters delay no other question: 20 others are answered meanwhile, with one model call each', async () => {
  deployment.chat.script(async (response, call) => {
    const asked = JSON.stringify(call.body['messages']);
    const worst = /worst (\d)/.exec(asked)?.[1];
    await slowly(worst === undefined ? 'A short answer.' : (WORST[Number(worst)] ?? ''))(response, call);
  });
  await deployment.startProcess();
  // Reading the metrics starts a new measurement period.
  await fetch(`${deployment.botUrl}/metrics`);
  for (const index of WORST.keys()) await deployment.sender.direct(`UWORST${index}`, `worst ${index}`);
  const people = Array.from({ length: OTHERS }, (_, index) => `U${index}`);
  for (const person of people) await deployment.sender.direct(person, 'a question');
  await untilTrue(
    () => people.every((person) => deployment.textsIn(`D${person}`).at(-1) === 'A short answer.'),
    30_000,
  );
  // Shown as messages, or as a file below the first of them. The first message is shown while the answer grows.
  const isWhole = (index: number) => {
    const channel = `DUWORST${index}`;
    const files = deployment.slack.botFiles.filter(({ shownIn }) => shownIn.some((one) => one.channel === channel));
    const texts = files.length > 0 ? files.map(({ text = '' }) => text) : deployment.textsIn(channel);
    return /^It begins\.[^]*It ends\.$/.test(texts.join(''));
  };
  await untilTrue(() => WORST.every((_, index) => isWhole(index)), 60_000);
  const metrics = await (await fetch(`${deployment.botUrl}/metrics`)).text();
  const lagSec = Number(/^nodejs_eventloop_lag_max_seconds (\S+)/m.exec(metrics)?.[1]);
  expect(deployment.chat.calls).toHaveLength(OTHERS + WORST.length);
  expect(deployment.textsIn('DUWORST0').join('')).toMatch(/^It begins\.\s+It ends\.$/);
  expect(lagSec).toBeLessThan(MAX_LAG_SEC);
  process.stdout.write(`hostile answers: the loop stood still for ${(lagSec * 1_000).toFixed(0)} ms at most\n`);
}, 120_000);
