import { beforeEach, expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { got } from 'got';
import { chunk, helloStream, sse, type Answer } from '../bot/model/scripted-chat-server.ts';
import { useSlackDeployment } from '../support/slack-deployment.ts';
import { untilTrue } from '../support/deployment.ts';

// One bot with one slot, which a long answer holds while others ask.

const deployment = useSlackDeployment();
const ANSWER = 'It is answered.';
const BUSY =
  'Too many people are asking at the moment, so I did not get to this one. Your question is kept: send “retry” in a few minutes.';
/** Below these limits the bot reads the queue once a second. */
const FIGURE_IS_OLD_AFTER_MS = 1_100;

let endLongAnswer: () => void;
beforeEach(() => {
  const ended = new Promise<void>((resolve) => (endLongAnswer = resolve));
  const long: Answer = async (response, { closed }) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(chunk({ content: 'A long' }));
    await Promise.race([ended, closed]);
    response.end(chunk({ content: ' answer.' }, 'stop') + sse('[DONE]'));
  };
  deployment.chat.script(long, helloStream(ANSWER));
});

/** Starts the bot, lets the first person hold its slot, and lets these people ask one after another. */
async function crowd(limits: { soft: number; hard: number }, people: string[]): Promise<void> {
  await deployment.startBot({
    WORKER_CONCURRENCY: '1',
    QUEUE_SOFT_WAITING: String(limits.soft),
    QUEUE_HARD_WAITING: String(limits.hard),
  });
  await deployment.sender.direct('UFIRST', 'a long one, please');
  await untilTrue(() => deployment.textsIn('DUFIRST').length === 1);
  for (const person of people) await deployment.sender.direct(person, `a question of ${person}`);
  await sleep(FIGURE_IS_OLD_AFTER_MS);
}
const modelWasAsked = (person: string) =>
  deployment.chat.calls.some(({ body }) => JSON.stringify(body).includes(person));

test('over the hard limit the oldest are told to come again, without a model call; /retry answers them later [back-pressure]', async () => {
  const people = ['UA', 'UB', 'UC', 'UD', 'UE'];
  await crowd({ soft: 3, hard: 3 }, people);
  endLongAnswer();
  await deployment.untilShown('DUE', [ANSWER]);
  await deployment.untilShown('DUFIRST', ['A long answer.']);
  expect(people.map((person) => deployment.textsIn(`D${person}`))).toEqual([
    [BUSY],
    [BUSY],
    [ANSWER],
    [ANSWER],
    [ANSWER],
  ]);
  expect(people.map(modelWasAsked)).toEqual([false, false, true, true, true]);
  await deployment.sender.direct('UA', '/retry');
  await deployment.untilShown('DUA', ['↓ answered below', ANSWER]);
  expect(modelWasAsked('UA')).toBe(true);
  const metrics = await got(`${deployment.botUrl}/metrics`).text();
  expect(metrics).toContain('parley_turn_duration_seconds_count{platform="slack",outcome="busy"} 2');
  expect(metrics).toContain('parley_queue_pressure_changes_total{pressure="hard"} 1');
});

test('a question said in Chinese is turned away in Chinese [back-pressure]', async () => {
  await crowd({ soft: 1, hard: 1 }, []);
  await deployment.sender.direct('UA', '今天几号？');
  await deployment.sender.direct('UB', 'and me?');
  endLongAnswer();
  await deployment.untilShown('DUA', ['现在提问的人太多，暂时无法回答。你的问题已保留，请过几分钟发送“重试”。']);
});

test('over the soft limit answers are asked to be short, without tools, and are cut where they are not [back-pressure]', async () => {
  const words = 'words '.repeat(1_000);
  await crowd({ soft: 1, hard: 100 }, ['UA', 'UB']);
  deployment.chat.script(helloStream(words));
  endLongAnswer();
  await untilTrue(() => deployment.textsIn('DUA')[0]?.includes('longest allowed answer') ?? false);
  const [short = ''] = deployment.textsIn('DUA');
  expect(short.length).toBeLessThan(4_100);
  await untilTrue(() => deployment.chat.calls.length === 3);
  const asksToBeBrief = deployment.chat.calls.map(({ body }) => JSON.stringify(body).includes('at most 150 words'));
  // Nobody waited yet when the first one was asked, and nobody behind the last one.
  expect(asksToBeBrief).toEqual([false, true, false]);
  // A tool's round costs another call of the model.
  expect(deployment.chat.calls.map(({ body }) => 'tools' in body)).toEqual([true, false, true]);
});

test('a stop word gets through over the hard limit, to what runs and to what waits [back-pressure]', async () => {
  await crowd({ soft: 1, hard: 1 }, ['UA', 'UB']);
  await deployment.sender.direct('UA', '/stop');
  await deployment.sender.direct('UFIRST', '/stop');
  await deployment.untilShown('DUA', ['Stopped.', 'Stopped.']);
  await deployment.untilShown('DUFIRST', ['A long', 'Stopped.']);
  await untilTrue(() => deployment.slack.messages.some(({ text, note }) => text === 'A long' && note === 'Stopped.'));
  await deployment.untilShown('DUB', [BUSY]);
  expect(modelWasAsked('UA')).toBe(false);
});
