import { expect, test } from '@jest/globals';
import { setTimeout as pause } from 'node:timers/promises';
import { chunk, helloStream } from '../bot/model/scripted-chat-server.ts';
import { freePort } from '../../src/bot/app/local/embedded-redis.ts';
import { RECONCILIATION_KEYS } from '../../src/bot/domain/partition-keys.ts';
import { useSlackDeployment } from '../support/slack-deployment.ts';
import { untilTrue } from '../support/deployment.ts';

// A worker is stopped during its first post, and another one continues immediately.

const ANSWER = 'It is answered.';
// Longer than the test takes, so that a missing post is not repeated either.
const deployment = useSlackDeployment({ settlesWithinMs: 60_000 });
const posts = () => deployment.slack.calls.filter(({ method }) => /startStream|postMessage/.test(method)).length;

async function askWithLatePost(): Promise<void> {
  deployment.chat.script(helloStream(ANSWER));
  const late = { kind: 'late', afterMs: 1_500, isAnswered: true } as const;
  deployment.slack.faults.set('chat.startStream', [late]).set('chat.postMessage', [late]);
  await deployment.sender.mention({ channel: 'C1', userId: 'U1' }, 'a question');
  await untilTrue(() => posts() === 1);
}

async function expectOneMessage(): Promise<void> {
  await untilTrue(() => deployment.slack.messages.some(({ text, isStreaming }) => text === ANSWER && !isStreaming));
  expect(deployment.textsIn('C1')).toEqual([ANSWER]);
  expect(deployment.slack.removed).toEqual([]);
  expect(posts()).toBe(1);
}

test.each(['stream', 'edit'])(
  'after an orderly stop during the first post (%s), the next worker continues in the same message',
  async (mode) => {
    const env = { SLACK_REPLY: mode, SHUTDOWN_GRACE_SEC: '5' };
    await deployment.startBot({ ...env, ROLES: 'receiver' });
    const worker = await deployment.startBot({ ...env, ROLES: 'worker', PORT: String(await freePort()) });
    await askWithLatePost();
    const stopped = worker.close();
    await deployment.startBot({ ...env, ROLES: 'worker', PORT: String(await freePort()) });
    await expectOneMessage();
    await stopped;
  },
  60_000,
);

test('a late edit after its worker has stopped is overwritten by another worker with the complete answer', async () => {
  const env = { SLACK_REPLY: 'edit' };
  await deployment.startBot({ ...env, ROLES: 'receiver' });
  const startWorker = async () => deployment.startBot({ ...env, ROLES: 'worker', PORT: String(await freePort()) });
  const worker = await startWorker();
  const half = ANSWER.slice(0, 5);
  deployment.chat.script(async (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(chunk({ content: ANSWER.slice(0, 2) }));
    await untilTrue(() => posts() === 1);
    await pause(200);
    // This text triggers an edit, which its caller abandons after five seconds.
    response.write(chunk({ content: ANSWER.slice(2, 5) }));
    await untilTrue(() => deployment.slack.calls.some(({ method }) => method === 'chat.update'));
    response.end(`${chunk({ content: ANSWER.slice(5) }, 'stop')}data: [DONE]\n\n`);
  });
  deployment.slack.faults.set('chat.update', [{ kind: 'late', afterMs: 6_500, isAnswered: true }]);
  await deployment.sender.mention({ channel: 'C1', userId: 'U1' }, 'a question');
  await untilTrue(() => deployment.textsIn('C1').includes(ANSWER));
  await worker.close();
  await untilTrue(() =>
    deployment.slack.messages.some(({ snapshots }) => snapshots.lastIndexOf(half) > snapshots.indexOf(ANSWER)),
  );
  expect(deployment.textsIn('C1')).toEqual([half]);
  await startWorker();
  // Slack could still carry out calls for half a minute.
  const [check = ''] = await deployment.redis.zrange(RECONCILIATION_KEYS.due, '0', '0');
  await deployment.redis.zadd(RECONCILIATION_KEYS.due, 'XX', '0', check);
  await untilTrue(() => deployment.textsIn('C1')[0] === ANSWER);
  expect(deployment.textsIn('C1')).toEqual([ANSWER]);
}, 60_000);

test('after SIGTERM during the first post, a second process continues in the same message', async () => {
  const env = { SHUTDOWN_GRACE_SEC: '5' };
  const worker = await deployment.startProcess({ ...env, ROLES: 'worker' });
  await deployment.startProcess({ ...env, ROLES: 'receiver' });
  await askWithLatePost();
  worker.kill('SIGTERM');
  await deployment.startProcess({ ...env, ROLES: 'worker' });
  await expectOneMessage();
  expect(await worker.ended).toBe(0);
}, 60_000);
