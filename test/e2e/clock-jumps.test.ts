import { expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { HOUR_MS, MINUTE_MS } from '../../src/shared/clock.ts';
import { helloStream, statusOf, type Answer } from '../bot/model/scripted-chat-server.ts';
import { useSlackDeployment } from '../support/slack-deployment.ts';
import { untilTrue } from '../support/deployment.ts';

let offsetMs = 0;
const deployment = useSlackDeployment({ nowMs: () => Date.now() + offsetMs });

const WORDS = Array.from({ length: 160 }, (_, index) => `word${index + 1}`);
/** Streams words for eight seconds: longer than two renewals take. */
const slow: Answer = async (response) => {
  const send = (choice: object) =>
    response.write(`data: ${JSON.stringify({ choices: [{ index: 0, ...choice }] })}\n\n`);
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const [index, word] of WORDS.entries()) {
    send({ delta: { content: index === 0 ? word : ` ${word}` } });
    await sleep(50);
  }
  send({ delta: {}, finish_reason: 'stop' });
  response.end('data: [DONE]\n\n');
};

test.each([
  { jump: 'back ten minutes', byMs: -10 * MINUTE_MS },
  { jump: 'forward ten minutes', byMs: 10 * MINUTE_MS },
])(
  'a clock that jumps $jump during an answer neither ends it nor runs it twice, and the next question is answered [wrong-clocks]',
  async ({ byMs }) => {
    offsetMs = 0;
    deployment.chat.script(slow);
    await deployment.startBot();
    await deployment.sender.direct('U1', 'a question');
    const text = () => deployment.textsIn('DU1').join();
    await untilTrue(() => text().includes('word5'));
    offsetMs = byMs;
    const atJump = text();
    await untilTrue(() => text() !== atJump && !text().endsWith(WORDS.at(-1) ?? ''), 3_000);
    await deployment.untilShown('DU1', [WORDS.join(' ')], 20_000);
    deployment.chat.script(helloStream('Answered at once.'));
    await deployment.sender.direct('U1', 'and another one?');
    await deployment.untilShown('DU1', [WORDS.join(' '), 'Answered at once.'], 30_000);
    expect(deployment.chat.calls).toHaveLength(2);
    expect(deployment.lines.filter((line) => /silent worker|newer run|worker died|not renewed/.test(line))).toEqual([]);
  },
  60_000,
);

test('a clock that jumps forward an hour at any single reading loses no answer', async () => {
  const JUMPS_AT = [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13];
  let readings = 0;
  let jumpsAt = Number.POSITIVE_INFINITY;
  const clock = () => Date.now() + ((readings += 1) >= jumpsAt ? HOUR_MS : 0);
  deployment.chat.script(helloStream('Answered.'));
  // This test covers accepted messages only, so the webhook must not refuse any as too old.
  await deployment.startBot({ WEBHOOK_WINDOW_SEC: '7200' }, clock);
  const shown: string[] = [];
  for (const reading of JUMPS_AT) {
    [readings, jumpsAt] = [0, reading];
    await deployment.sender.direct('U1', `question ${reading}`);
    shown.push('Answered.');
    await deployment.untilShown('DU1', shown, 20_000);
    jumpsAt = Number.POSITIVE_INFINITY;
    // The turn still reads the clock after its last snapshot. Those readings must not count for the next turn.
    await sleep(200);
  }
}, 60_000);

test('a clock that jumps forward while a failed call waits for its retry does not use up the retry', async () => {
  offsetMs = 0;
  deployment.chat.script(statusOf(503, { 'retry-after': '1' }), helloStream('Answered.'));
  await deployment.startBot();
  await deployment.sender.direct('U1', 'a question');
  await untilTrue(() => deployment.chat.calls.length === 1);
  offsetMs = HOUR_MS;
  await deployment.untilShown('DU1', ['Answered.'], 20_000);
  offsetMs = 0;
}, 60_000);
