import { expect, test } from '@jest/globals';
import { freePort } from '../../src/bot/app/local/embedded-redis.ts';
import { helloStream, type Answer } from '../bot/model/scripted-chat-server.ts';
import { untilTrue } from '../support/deployment.ts';
import { startParleyProcess } from '../support/parley-process.ts';
import { useSlackDeployment } from '../support/slack-deployment.ts';

const deployment = useSlackDeployment();
const QUESTIONS = 30;
/** Number of calls before the first one fails: the maximum number of descriptors of the worker (`leave-descriptors.mjs`). */
const FIRST_CALLS = 20;
let calls = 0;
let running = 0;
/** Maximum concurrent calls after the first ones. */
let laterPeak = 0;

/** Holds its connection for a while before it begins. */
const slowly: Answer = async (...args) => {
  calls += 1;
  running += 1;
  if (calls > FIRST_CALLS) laterPeak = Math.max(laterPeak, running);
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  running -= 1;
  return helloStream('The answer.')(...args);
};

test('a worker with few file descriptors answers more questions than it has descriptors, without an apology [engine-capacity]', async () => {
  deployment.chat.script(...Array.from({ length: 2 * QUESTIONS }, () => slowly));
  const leave = new URL('../support/leave-descriptors.mjs', import.meta.url).pathname;
  const worker = await startParleyProcess({
    command: ['bash', '-c', 'ulimit -n 256 && exec node dist/main.js'],
    env: { ...deployment.env, ROLES: 'worker', PORT: String(await freePort()), NODE_OPTIONS: `--import=${leave}` },
    until: /is running|has started/,
  });
  try {
    worker.kill('SIGUSR2');
    await untilTrue(() => worker.output().includes('descriptors taken'));
    await deployment.startBot({ ROLES: 'receiver' });
    const people = Array.from({ length: QUESTIONS }, (_, index) => `U${100 + index}`);
    await Promise.all(people.map((person) => deployment.sender.direct(person, 'a question')));
    const isAnswered = (person: string) =>
      deployment.slack.messages.some(({ channel, isStreaming }) => channel === `D${person}` && !isStreaming);
    await untilTrue(() => people.every(isAnswered), 60_000);
    expect(people.map((person) => deployment.textsIn(`D${person}`))).toEqual(people.map(() => ['The answer.']));
    expect(worker.output()).toContain('chat_local_limit');
    expect(calls).toBe(QUESTIONS);
    // The calls that got descriptors continue, whether or not the engine has begun to answer them.
    expect(laterPeak).toBeGreaterThan(1);
  } finally {
    worker.kill('SIGKILL');
    await worker.ended;
  }
}, 90_000);
