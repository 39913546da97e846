import { beforeEach, expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { got } from 'got';
import { chunk, helloStream, sse, type Answer } from '../bot/model/scripted-chat-server.ts';
import { useSlackDeployment } from '../support/slack-deployment.ts';
import { untilTrue } from '../support/deployment.ts';

// One bot with one slot, which a long answer occupies while others ask.

const deployment = useSlackDeployment();
const ANSWER = 'It is answered.';
const BUSY =
  'Too many people are asking right now, so I could not get to this question. Your question is saved: send “retry” in a few minutes.';
/** The bot counts the waiting messages once a second. */
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

/** Starts the bot, lets the first person occupy its slot, then lets these people ask one after another. */
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
const metric = async (name: string) =>
  Number(new RegExp(`^parley_${name} (.*)$`, 'm').exec(await got(`${deployment.botUrl}/metrics`).text())?.[1]);
const modelWasAsked = (person: string) =>
  deployment.chat.calls.some(({ body }) => JSON.stringify(body).includes(person));

test('above the hard limit the oldest questions get a busy note without a model call, and /retry answers them later [back-pressure]', async () => {
  const people = ['UA', 'UB', 'UC', 'UD', 'UE'];
  await crowd({ soft: 3, hard: 3 }, people);
  expect(await metric('waiting_questions')).toBe(5);
  expect(await metric('longest_question_wait_seconds')).toBeGreaterThan(1);
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
  await untilTrue(async () => (await metric('waiting_questions')) === 0);
  expect(await metric('longest_question_wait_seconds')).toBe(0);
});

test('above the hard limit a Chinese question gets a Chinese busy note [back-pressure]', async () => {
  await crowd({ soft: 1, hard: 1 }, []);
  await deployment.sender.direct('UA', '今天几号？');
  await deployment.sender.direct('UB', 'and me?');
  endLongAnswer();
  await deployment.untilShown('DUA', ['当前提问人数过多，暂时无法回答。你的问题已保留，请几分钟后发送“重试”。']);
});

test('above the soft limit answers are requested short, without tools, and cut if they are long [back-pressure]', async () => {
  const words = 'words '.repeat(1_000);
  await crowd({ soft: 1, hard: 100 }, ['UA', 'UB']);
  deployment.chat.script(helloStream(words));
  endLongAnswer();
  await untilTrue(() => deployment.textsIn('DUA')[0]?.includes('maximum answer length') ?? false);
  const [short = ''] = deployment.textsIn('DUA');
  expect(short.length).toBeLessThan(4_100);
  await untilTrue(() => deployment.chat.calls.length === 3);
  const asksToBeBrief = deployment.chat.calls.map(({ body }) => JSON.stringify(body).includes('at most 150 words'));
  // No question waited when the first one was asked, or behind the last one.
  expect(asksToBeBrief).toEqual([false, true, false]);
  // A tool round costs another model call.
  expect(deployment.chat.calls.map(({ body }) => 'tools' in body)).toEqual([true, false, true]);
});

test('a stop word works above the hard limit for the running answer and for waiting questions [back-pressure]', async () => {
  await crowd({ soft: 1, hard: 1 }, ['UA', 'UB']);
  await deployment.sender.direct('UA', '/stop');
  await deployment.sender.direct('UFIRST', '/stop');
  await deployment.untilShown('DUA', ['Stopped.', 'Stopped.']);
  await deployment.untilShown('DUFIRST', ['A long', 'Stopped.']);
  await untilTrue(() => deployment.slack.messages.some(({ text, note }) => text === 'A long' && note === 'Stopped.'));
  await deployment.untilShown('DUB', [BUSY]);
  expect(modelWasAsked('UA')).toBe(false);
});
