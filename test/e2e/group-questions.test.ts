import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../src/bot/app/local/embedded-redis.ts';
import { MINUTE_MS } from '../../src/shared/clock.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import { helloStream } from '../bot/model/scripted-chat-server.ts';
import { ageMessages } from '../support/age-messages.ts';
import { LINK, startSlackSignIns, type SlackSignIns } from '../support/slack-sign-ins.ts';
import { useSlackDeployment } from '../support/slack-deployment.ts';
import { untilTrue } from '../support/deployment.ts';

const ANSWER = 'It is answered.';
const POINTER =
  /^<@(U\d+)> Please sign in first; I have sent you a private message\. If you sign in within ten minutes/;

const deployment = useSlackDeployment();
let signIns: SlackSignIns;
let proxy: TcpProxy | undefined;

beforeEach(async () => {
  signIns = await startSlackSignIns(deployment);
  deployment.chat.script(helloStream(ANSWER));
});
afterEach(async () => {
  await deployment.stopBots();
  await proxy?.close();
  proxy = undefined;
  await signIns.close();
});

const ask = (userId: string, more: { threadTs?: string } = {}) =>
  deployment.sender.mention({ channel: 'C1', userId, ...more }, `a question of ${userId}`);
/** A person to whom the bot writes first has a private chat named after them by Slack. */
const written = (userId: string) => deployment.textsIn(userId.replace('U', 'D'));
async function confirmOf(userId: string) {
  await untilTrue(() => LINK.test(written(userId).join()));
  return signIns.walkToConfirm(userId, LINK.exec(written(userId).join())?.[0] ?? '');
}

test.each(['member', 'group'])(
  'a question in a channel is kept: its sender is named, and the same message becomes the answer (GROUP_SCOPE=%s)',
  async (GROUP_SCOPE) => {
    await deployment.startBot({ ...signIns.env, GROUP_SCOPE });
    await ask('U1');
    const { press } = await confirmOf('U1');
    expect(deployment.textsIn('C1')).toEqual([expect.stringMatching(POINTER)]);
    expect(deployment.textsIn('C1').join()).not.toContain('/link/');
    expect(deployment.chat.calls).toHaveLength(0);
    const { text } = await press();
    expect(text).toContain('Return to the group; your question is being answered there.');
    await deployment.untilShown('C1', [ANSWER]);
    expect(deployment.chat.calls).toHaveLength(1);
  },
);

test('two questions in one channel each wait for the sign-in of their own sender', async () => {
  await deployment.startBot({ ...signIns.env, GROUP_SCOPE: 'group' });
  await ask('U1');
  await ask('U2');
  const confirms = { U1: await confirmOf('U1'), U2: await confirmOf('U2') };
  await confirms.U2.press();
  await untilTrue(() => deployment.textsIn('C1').includes(ANSWER));
  expect(deployment.textsIn('C1')).toEqual([expect.stringMatching(POINTER), ANSWER]);
  expect(JSON.stringify(deployment.chat.calls[0]?.body)).toContain('a question of U2');
  expect(deployment.chat.calls).toHaveLength(1);
  await confirms.U1.press();
  await deployment.untilShown('C1', [ANSWER, ANSWER]);
});

test('a question in a thread is kept next to one in the private chat', async () => {
  await deployment.startBot(signIns.env);
  await ask('U1', { threadTs: '1750000000.000001' });
  const { press } = await confirmOf('U1');
  await deployment.sender.direct('U1', 'a private question');
  await untilTrue(() => deployment.textsIn('DU1').length === 1);
  expect((await press()).text).toContain('Return to the chat; your question is being answered.');
  await deployment.untilShown('C1', [ANSWER]);
  await untilTrue(() => deployment.textsIn('DU1').includes(ANSWER));
});

test('a sign-in that is too late for its question says so in the channel and on the page', async () => {
  await deployment.startBot(signIns.env);
  await ask('U1');
  const { press } = await confirmOf('U1');
  await untilTrue(async () => (await deployment.redis.keys('{p*}:held:*')).length === 1);
  await ageMessages(deployment.redis, 11 * MINUTE_MS);
  expect((await press()).text).toContain('Return to the group and ask again');
  await untilTrue(() => /^<@U1> You are signed in now.* ask again/.test(deployment.textsIn('C1')[0] ?? ''));
  expect(deployment.textsIn('C1')).toHaveLength(1);
  expect(deployment.chat.calls).toHaveLength(0);
});

test('a question is answered by the next worker when one dies between holding and releasing it', async () => {
  await deployment.startBot({ ...signIns.env, ROLES: 'receiver' });
  const failPoint = { NODE_ENV: 'test', PARLEY_FAIL_POINT: 'redis.commit:after:exit' };
  const dying = await deployment.startProcess({ ...signIns.env, ROLES: 'worker', ...failPoint });
  await ask('U1');
  const { press } = await confirmOf('U1');
  await dying.ended;
  expect((await press()).status).toBe(200);
  await deployment.startBot({ ...signIns.env, ROLES: 'worker', PORT: String(await freePort()) });
  await deployment.untilShown('C1', [ANSWER], 30_000);
}, 60_000);

// Redis is slow for the worker and fast for the receiver, so links are created while questions are still being held.
test('channel questions are each answered once when links are created while the questions are being held', async () => {
  proxy = await startTcpProxy(Number(new URL(deployment.redisServer.url).port));
  const [, db] = new URL(deployment.redisServer.url).pathname.split('/');
  await deployment.startBot({ ...signIns.env, ROLES: 'receiver', GROUP_SCOPE: 'group' });
  const far = { PORT: String(await freePort()), REDIS_URL: `redis://127.0.0.1:${proxy.port}/${db ?? 0}` };
  await deployment.startBot({ ...signIns.env, ...far, ROLES: 'worker', GROUP_SCOPE: 'group' });
  const people = Array.from({ length: 6 }, (_, index) => `U${index + 1}`);
  for (const person of people) await ask(person);
  const confirms = await Promise.all(people.map(confirmOf));
  proxy.breakWith({ kind: 'delay', delayMs: 60 });
  await Promise.all(
    people.map(async (person, index) => {
      await ask(person);
      await sleep(index * 150);
      expect((await confirms[index]?.press())?.status).toBe(200);
    }),
  );
  await deployment.untilShown(
    'C1',
    Array.from({ length: 12 }, () => ANSWER),
    40_000,
  );
  const asked = deployment.chat.calls.map(
    ({ body }) => /a question of (U\d)(?!.*a question of)/s.exec(JSON.stringify(body))?.[1],
  );
  expect(asked.sort()).toEqual([...people, ...people].sort());
}, 60_000);
