import { expect, test } from '@jest/globals';
import { helloStream } from '../chat/scripted-chat-server.ts';
import { freePort } from '../../src/local/embedded-redis.ts';
import { useSlackTown } from '../support/slack-town.ts';
import { untilTrue } from '../support/town.ts';

// A worker is told to stop while its first post is under way, and another one is there to go on at once.

const ANSWER = 'It is answered.';
// Longer than the test takes, so that a post that is not found is not posted again either.
const town = useSlackTown({ settlesWithinMs: 60_000 });
const posts = () => town.slack.calls.filter(({ method }) => /startStream|postMessage/.test(method)).length;

async function askWithLatePost(): Promise<void> {
  town.chat.script(helloStream(ANSWER));
  const late = { kind: 'late', afterMs: 1_500, isAnswered: true } as const;
  town.slack.faults.set('chat.startStream', [late]).set('chat.postMessage', [late]);
  await town.sender.mention({ channel: 'C1', userId: 'U1' }, 'a question');
  await untilTrue(() => posts() === 1);
}

async function expectOneMessage(): Promise<void> {
  await untilTrue(() => town.slack.messages.some(({ text, isStreaming }) => text === ANSWER && !isStreaming));
  expect(town.textsIn('C1')).toEqual([ANSWER]);
  expect(town.slack.removed).toEqual([]);
  expect(posts()).toBe(1);
}

test.each(['stream', 'edit'])(
  'an orderly stop while the first post (%s) is under way: the next worker goes on in the same message',
  async (mode) => {
    const env = { SLACK_REPLY: mode, SHUTDOWN_GRACE_SEC: '5' };
    await town.startBot({ ...env, ROLES: 'receiver' });
    const worker = await town.startBot({ ...env, ROLES: 'worker', PORT: String(await freePort()) });
    await askWithLatePost();
    const stopped = worker.close();
    await town.startBot({ ...env, ROLES: 'worker', PORT: String(await freePort()) });
    await expectOneMessage();
    await stopped;
  },
  30_000,
);

test('the same with processes of their own and SIGTERM', async () => {
  const env = { SHUTDOWN_GRACE_SEC: '5' };
  const worker = await town.startProcess({ ...env, ROLES: 'worker' });
  await town.startProcess({ ...env, ROLES: 'receiver' });
  await askWithLatePost();
  worker.kill('SIGTERM');
  await town.startProcess({ ...env, ROLES: 'worker' });
  await expectOneMessage();
  expect(await worker.ended).toBe(0);
}, 60_000);
