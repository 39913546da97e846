import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { freePort } from '../../src/bot/app/local/embedded-redis.ts';
import { helloStream } from '../bot/model/scripted-chat-server.ts';
import { LINK, startSlackSignIns, type SlackSignIns } from '../support/slack-sign-ins.ts';
import { useSlackDeployment } from '../support/slack-deployment.ts';
import { untilTrue } from '../support/deployment.ts';

const ANSWER = 'It is answered.';

const deployment = useSlackDeployment();
let signIns: SlackSignIns;

beforeEach(async () => {
  signIns = await startSlackSignIns(deployment);
  deployment.chat.script(helloStream(ANSWER));
});
afterEach(async () => {
  await deployment.stopBots();
  await signIns.close();
});

const texts = () => deployment.textsIn('DU1');
async function held(): Promise<number> {
  const names = await deployment.redis.keys('{p*}:held:*');
  const lengths = await Promise.all(names.map((name) => deployment.redis.llen(name)));
  return lengths.reduce((sum, length) => sum + length, 0);
}
const untilHeld = (count: number) => untilTrue(async () => (await held()) === count);

const inPrivate = { channel: 'DU1', channel_type: 'im' };
const inChannel = { channel: 'C1', channel_type: 'channel' };

function deleted(ts: string, text: string, where: object = inPrivate): Promise<number> {
  const event = { type: 'message', subtype: 'message_deleted', ...where, hidden: true, deleted_ts: ts };
  const previous = { type: 'message', user: 'U1', text, ts };
  return deployment.sender.event({ ...event, ts: '1760000030.000001', previous_message: previous });
}

async function signIn(link: string): Promise<void> {
  const { press } = await signIns.walkToConfirm('U1', link);
  expect((await press()).status).toBe(200);
}

describe('a deleted question that waits for its sender to sign in [taken-back]', () => {
  test.each(['stream', 'edit'])(
    'removes its invitation; the link still signs in, and no answer follows (%s)',
    async (reply) => {
      await deployment.startBot({ ...signIns.env, SLACK_REPLY: reply });
      const ts = await deployment.sender.direct('U1', 'BANANAS');
      const link = await signIns.linkOf('U1');
      await untilHeld(1);
      expect([await deleted(ts, 'BANANAS'), await deleted(ts, 'BANANAS')]).toEqual([200, 200]);
      expect(texts()).toEqual([]);
      expect(await held()).toBe(0);
      await signIn(link);
      await deployment.sender.direct('U1', 'the next question');
      await untilTrue(() => texts().includes(ANSWER));
      expect(deployment.chat.calls).toHaveLength(1);
      expect(JSON.stringify(deployment.chat.calls)).not.toContain('BANANAS');
    },
    60_000,
  );

  test('keeps the invitation of another waiting question', async () => {
    await deployment.startBot(signIns.env);
    const ts = await deployment.sender.direct('U1', 'BANANAS');
    await untilHeld(1);
    await deployment.sender.direct('U1', 'CHERRIES');
    await untilHeld(2);
    await deleted(ts, 'BANANAS');
    expect(texts()).toEqual([expect.stringMatching(/^I have kept this question too/)]);
    await signIn(LINK.exec(texts()[0] ?? '')?.[0] ?? '');
    await deployment.untilShown('DU1', [ANSWER]);
    expect(JSON.stringify(deployment.chat.calls)).not.toContain('BANANAS');
  }, 60_000);

  test('removes the sign-in notice in a channel', async () => {
    await deployment.startBot(signIns.env);
    const ts = await deployment.sender.mention({ channel: 'C1', userId: 'U1' }, 'BANANAS');
    await untilTrue(() => deployment.textsIn('C1').length === 1);
    await untilHeld(1);
    expect(await deleted(ts, '<@UBOT> BANANAS', inChannel)).toBe(200);
    expect(deployment.textsIn('C1')).toEqual([]);
  }, 60_000);

  /** Two questions that came before a worker ran share one invitation. */
  async function twoUnderOneInvitation(): Promise<[string, string]> {
    await deployment.startBot({ ...signIns.env, ROLES: 'receiver' });
    const first = await deployment.sender.direct('U1', 'BANANAS');
    const second = await deployment.sender.direct('U1', 'CHERRIES');
    await deployment.startBot({ ...signIns.env, ROLES: 'worker', PORT: String(await freePort()) });
    await untilHeld(2);
    expect(texts()).toHaveLength(1);
    return [first, second];
  }

  test.each([
    ['the first', 0],
    ['the last', 1],
  ])(
    'keeps the invitation that it shares with another question, which is answered there: %s is deleted',
    async (_name, which) => {
      const both = await twoUnderOneInvitation();
      const said = ['BANANAS', 'CHERRIES'];
      expect(await deleted(both[which] ?? '', said[which] ?? '')).toBe(200);
      await signIn(LINK.exec(texts()[0] ?? '')?.[0] ?? '');
      await deployment.untilShown('DU1', [ANSWER]);
      expect(JSON.stringify(deployment.chat.calls)).toContain(said[1 - which]);
      expect(JSON.stringify(deployment.chat.calls)).not.toContain(said[which]);
    },
    60_000,
  );

  test('removes the shared invitation once both questions are deleted, in any order and repeatedly', async () => {
    const [first, second] = await twoUnderOneInvitation();
    await deleted(second, 'CHERRIES');
    await deleted(second, 'CHERRIES');
    expect(texts()).toHaveLength(1);
    await deleted(first, 'BANANAS');
    await deleted(second, 'CHERRIES');
    expect(texts()).toEqual([]);
  }, 60_000);

  test('replaces the invitation by a notice when Slack refuses to delete it', async () => {
    deployment.slack.faults.set('chat.delete', [{ kind: 'error', error: 'cant_delete_message' }]);
    await deployment.startBot(signIns.env);
    const ts = await deployment.sender.direct('U1', 'BANANAS');
    await untilHeld(1);
    await deleted(ts, 'BANANAS');
    expect(texts()).toEqual([expect.stringContaining('nothing here is waiting for a sign-in')]);
    expect(texts()[0]).not.toMatch(LINK);
  }, 60_000);

  test('is removed by a repeated event after Slack refused the calls', async () => {
    deployment.slack.faults.set('chat.delete', [{ kind: 'status', status: 500 }]);
    await deployment.startBot(signIns.env);
    const ts = await deployment.sender.direct('U1', 'BANANAS');
    await untilHeld(1);
    expect(await deleted(ts, 'BANANAS')).toBe(503);
    expect(await held()).toBe(0);
    expect(texts()).toHaveLength(1);
    expect(await deleted(ts, 'BANANAS')).toBe(200);
    expect(texts()).toEqual([]);
  }, 60_000);

  test('is not held and leaves no invitation when the deletion arrives while the invitation is being posted', async () => {
    for (const method of ['chat.startStream', 'chat.postMessage'])
      deployment.slack.faults.set(method, [{ kind: 'late', afterMs: 700, isAnswered: true }]);
    await deployment.startBot(signIns.env);
    const ts = await deployment.sender.direct('U1', 'BANANAS');
    await untilTrue(() =>
      deployment.slack.calls.some(({ method }) => method === 'chat.startStream' || method === 'chat.postMessage'),
    );
    expect(await deleted(ts, 'BANANAS')).toBe(200);
    await untilTrue(() => deployment.slack.removed.length === 1);
    await untilTrue(async () => (await deployment.redis.zcard(await pendingKey())) === 0);
    expect(texts()).toEqual([]);
    expect(await held()).toBe(0);
  }, 60_000);
});

async function pendingKey(): Promise<string> {
  return (await deployment.redis.keys('{p*}:pending'))[0] ?? 'none';
}
