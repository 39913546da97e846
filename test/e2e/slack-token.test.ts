import { expect, test } from '@jest/globals';
import { helloStream } from '../bot/model/scripted-chat-server.ts';
import { useSlackDeployment } from '../support/slack-deployment.ts';
import { untilTrue } from '../support/deployment.ts';

// The app's token is revoked for longer than a worker retries, and then restored.

const ANSWER = 'It is answered.';
const deployment = useSlackDeployment();
const readyz = async () => {
  const answer = await fetch(`${deployment.botUrl}/readyz`);
  return { status: answer.status, parts: ((await answer.json()) as { parts: Record<string, string> }).parts };
};
const metrics = async () => (await fetch(`${deployment.botUrl}/metrics`)).text();

// About 20 s: a turn tries for 5 s before it yields, and then waits 10 s for the sweeper.
test('answers from a time with a revoked token are kept, reported, and posted once the token works again', async () => {
  deployment.chat.script(helloStream(ANSWER));
  await deployment.startBot();
  await untilTrue(async () => (await readyz()).status === 200);
  deployment.slack.tokenFault = 'token_revoked';
  await deployment.sender.mention({ channel: 'C1', userId: 'U1' }, 'a question');
  await deployment.sender.mention({ channel: 'C2', userId: 'U2' }, 'another question');
  await untilTrue(async () => /parley_answers_kept_total\{platform="slack"\} [2-9]/.test(await metrics()), 30_000);

  // The bot still accepts messages and reports the fault in its readiness, metrics and log, without the token.
  const { status, parts } = await readyz();
  expect(status).toBe(200);
  expect(parts['slack']).toMatch(/token_revoked.*stored/);
  expect(await metrics()).toMatch(
    /parley_platform_calls_unauthorised_total\{platform="slack",code="token_revoked"\} \d/,
  );
  expect(deployment.lines.filter((line) => line.includes('the platform refuses all calls'))).toHaveLength(1);
  expect(deployment.slack.messages).toEqual([]);

  deployment.slack.tokenFault = undefined;
  await deployment.untilShown('C1', [ANSWER], 60_000);
  await deployment.untilShown('C2', [ANSWER], 60_000);
  expect(deployment.chat.calls).toHaveLength(2);
  expect((await readyz()).parts['slack']).toBe('ready');
}, 120_000);
