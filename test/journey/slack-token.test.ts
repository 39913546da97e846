import { expect, test } from '@jest/globals';
import { helloStream } from '../chat/scripted-chat-server.ts';
import { useSlackTown } from '../support/slack-town.ts';
import { untilTrue } from '../support/town.ts';

// The token of the app is revoked for longer than a worker tries, and then mended.

const ANSWER = 'It is answered.';
const town = useSlackTown();
const readyz = async () => {
  const answer = await fetch(`${town.botUrl}/readyz`);
  return { status: answer.status, parts: ((await answer.json()) as { parts: Record<string, string> }).parts };
};
const metrics = async () => (await fetch(`${town.botUrl}/metrics`)).text();

// Some twenty seconds: a turn tries for five before it makes room, and waits ten for the sweeper.
test('answers of a time in which the token was revoked are kept, told, and posted by themselves once it is mended', async () => {
  town.chat.script(helloStream(ANSWER));
  await town.startBot();
  await untilTrue(async () => (await readyz()).status === 200);
  town.slack.tokenFault = 'token_revoked';
  await town.sender.mention({ channel: 'C1', userId: 'U1' }, 'a question');
  await town.sender.mention({ channel: 'C2', userId: 'U2' }, 'another question');
  await untilTrue(async () => /parley_answers_kept_total\{platform="slack"\} [2-9]/.test(await metrics()), 30_000);

  // It goes on taking messages in, and says what is wrong: in its readiness, its metrics and its log, without the token.
  const { status, parts } = await readyz();
  expect(status).toBe(200);
  expect(parts['slack']).toMatch(/token_revoked.*kept/);
  expect(await metrics()).toMatch(
    /parley_platform_calls_unauthorised_total\{platform="slack",code="token_revoked"\} \d/,
  );
  expect(town.lines.filter((line) => line.includes('the platform takes no calls'))).toHaveLength(1);
  expect(town.slack.messages).toEqual([]);

  town.slack.tokenFault = undefined;
  await town.untilShown('C1', [ANSWER], 60_000);
  await town.untilShown('C2', [ANSWER], 60_000);
  expect(town.chat.calls).toHaveLength(2);
  expect((await readyz()).parts['slack']).toBe('ready');
}, 120_000);
