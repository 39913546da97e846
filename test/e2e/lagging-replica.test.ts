import { expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { chunk, helloStream, stallAfter } from '../bot/model/scripted-chat-server.ts';
import { useLaggingReplica } from '../support/lagging-replica.ts';
import { useSlackDeployment } from '../support/slack-deployment.ts';
import { untilTrue } from '../support/deployment.ts';

const ANSWER = 'It is answered.';
const deployment = useSlackDeployment();
const pair = useLaggingReplica(deployment);
const { toReplica, isReady, failOver } = pair;

const untilNothingWaits = () => untilTrue(async () => (await toReplica('KEYS', '{p*}:inbox:*')) === '', 60_000);
/** A text is complete before its message has its last snapshot. */
const untilAllEnded = () => untilTrue(() => deployment.slack.messages.every(({ isStreaming }) => !isStreaming));
const recovered = () =>
  deployment.lines.filter((line) => line.includes('an acknowledged message that a failover lost was stored again'));
const askAll = async (people: string[]) => {
  for (const userId of people) await deployment.sender.direct(userId, 'a question');
};
const peopleOf = (letter: string) => Array.from({ length: 12 }, (_, index) => `U${letter}${index}`);

test('messages missing on a promoted replica are stored again by the receiver that acknowledged them and answered once [failover]', async () => {
  deployment.chat.script(helloStream(ANSWER));
  const receiver = await deployment.startBot({ ROLES: 'receiver' });
  await untilTrue(isReady);
  await askAll(peopleOf('A'));
  await untilTrue(async () => Number(await toReplica('DBSIZE')) > 0);
  pair.replication.breakWith({ kind: 'hold', heals: false });
  // Each question is acknowledged with 200 and exists only on the master, since no worker runs yet.
  await askAll(peopleOf('B'));
  await failOver();
  await untilTrue(isReady);
  await untilTrue(() => recovered().length === 12);
  await receiver.close();
  await deployment.startBot();
  for (const userId of [...peopleOf('A'), ...peopleOf('B')])
    await deployment.untilShown(`D${userId}`, [ANSWER], 30_000);
  expect(deployment.chat.calls).toHaveLength(24);
  expect(recovered().join('')).not.toContain('a question');
}, 90_000);

test('a posted answer that the replica does not know is found on the platform and not posted again [failover]', async () => {
  deployment.chat.script(helloStream(ANSWER));
  await deployment.startBot();
  await untilTrue(isReady);
  pair.replication.breakWith({ kind: 'hold', heals: false });
  await askAll(peopleOf('C'));
  for (const userId of peopleOf('C')) await deployment.untilShown(`D${userId}`, [ANSWER], 20_000);
  await untilAllEnded();
  const posts = () => deployment.slack.messages.length;
  expect(posts()).toBe(12);
  deployment.chat.script(helloStream('Answered once more.'));
  await failOver();
  await untilTrue(() => recovered().length === 12);
  await untilNothingWaits();
  for (const userId of peopleOf('C')) await deployment.untilShown(`D${userId}`, [ANSWER], 30_000);
  expect(posts()).toBe(12);
  expect(deployment.chat.calls).toHaveLength(12);
}, 90_000);

test('a half-posted answer that the replica does not know continues in the same message [failover]', async () => {
  deployment.chat.script(stallAfter(chunk({ content: 'The first half' })));
  await deployment.startBot();
  await untilTrue(isReady);
  pair.replication.breakWith({ kind: 'hold', heals: false });
  await deployment.sender.direct('UF', 'a question');
  await untilTrue(() => deployment.textsIn('DUF').join('').includes('The first half'));
  deployment.chat.script(helloStream(ANSWER));
  await failOver();
  await untilTrue(isReady);
  await untilNothingWaits();
  await deployment.untilShown('DUF', [ANSWER], 60_000);
  expect(deployment.slack.messages).toHaveLength(1);
}, 90_000);

test('posted answers to old questions are found and not posted again when the replica knows only the questions [failover]', async () => {
  deployment.chat.script(helloStream(ANSWER));
  const receiver = await deployment.startBot({ ROLES: 'receiver' });
  await untilTrue(isReady);
  const people = peopleOf('D');
  await askAll(people);
  const inReplica = async () => (await toReplica('KEYS', '{p*}:inbox:*')).split(',').length;
  await untilTrue(async () => (await inReplica()) === 12);
  // No process remembers the questions any more, as after some minutes.
  await receiver.close();
  pair.replication.breakWith({ kind: 'hold', heals: false });
  await deployment.startBot();
  for (const userId of people) await deployment.untilShown(`D${userId}`, [ANSWER], 20_000);
  await untilAllEnded();
  deployment.chat.script(helloStream('Answered once more.'));
  await failOver();
  await untilTrue(isReady);
  await untilNothingWaits();
  for (const userId of people) await deployment.untilShown(`D${userId}`, [ANSWER], 60_000);
  expect(deployment.slack.messages).toHaveLength(12);
  expect(deployment.chat.calls).toHaveLength(12);
  expect(recovered()).toEqual([]);
}, 120_000);

test('deliveries are refused while the replica required by min-replicas-to-write lags, and accepted once it has caught up [failover]', async () => {
  deployment.chat.script(helloStream(ANSWER));
  await deployment.startBot();
  await untilTrue(isReady);
  const admin = new Redis(pair.master.url, { maxRetriesPerRequest: null });
  await admin.config('SET', 'min-replicas-to-write', '1');
  await admin.config('SET', 'min-replicas-max-lag', '1');
  pair.replication.breakWith({ kind: 'hold', heals: true });
  const refused = async (userId: string) => {
    const ts = (Date.now() / 1_000).toFixed(6);
    const [channel, text] = [`D${userId}`, 'a question'];
    return (
      (await deployment.sender.event({ type: 'message', channel_type: 'im', channel, user: userId, text, ts })) === 503
    );
  };
  let asked = 0;
  await untilTrue(async () => refused(`UE${(asked += 1)}`));
  pair.replication.mend();
  await untilTrue(async () => !(await refused('ULAST')), 30_000);
  admin.disconnect();
  const answered = [...Array.from({ length: asked - 1 }, (_, index) => `UE${index + 1}`), 'ULAST'];
  for (const userId of answered) await deployment.untilShown(`D${userId}`, [ANSWER], 30_000);
  expect(deployment.textsIn(`DUE${asked}`)).toEqual([]);
}, 90_000);
