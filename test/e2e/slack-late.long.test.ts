import { expect, test } from '@jest/globals';
import { helloStream } from '../bot/model/scripted-chat-server.ts';
import { useSlackDeployment } from '../support/slack-deployment.ts';
import { untilTrue } from '../support/deployment.ts';

// Real processes and the real half minute of Slack: a worker dies during its first post, and Slack executes the post later.

const ANSWER = 'It is answered.';
const deployment = useSlackDeployment();
const posts = () => deployment.slack.calls.filter(({ method }) => /startStream|postMessage/.test(method)).length;

test.each([
  ['stream', 4_000],
  ['edit', 4_000],
  ['stream', 20_000],
  ['edit', 20_000],
  ['stream', 28_000],
  ['edit', 28_000],
] as const)(
  'one message remains when a worker is killed during its first post (%s), which Slack executes after %i ms',
  async (mode, byMs) => {
    deployment.chat.script(helloStream(ANSWER));
    const late = { kind: 'late', afterMs: byMs, isAnswered: true } as const;
    deployment.slack.faults.set(mode === 'stream' ? 'chat.startStream' : 'chat.postMessage', [late]);
    await deployment.startProcess({ SLACK_REPLY: mode, ROLES: 'receiver' });
    const worker = await deployment.startProcess({ SLACK_REPLY: mode, ROLES: 'worker' });
    await deployment.sender.mention({ channel: 'C1', userId: 'U1' }, 'a question');
    await untilTrue(() => posts() === 1);
    const sentMs = performance.now();
    worker.kill('SIGKILL');
    await deployment.startProcess({ SLACK_REPLY: mode, ROLES: 'worker' });
    const isWhole = () => deployment.slack.messages.some(({ text, isStreaming }) => text === ANSWER && !isStreaming);
    await untilTrue(isWhole, 80_000);
    // Nothing is posted later, and no stream stays open.
    await untilTrue(() => performance.now() - sentMs > byMs + 3_000, 60_000);
    expect(deployment.slack.messages.map(({ text, isStreaming }) => ({ text, isStreaming }))).toEqual([
      { text: ANSWER, isStreaming: false },
    ]);
  },
  150_000,
);
