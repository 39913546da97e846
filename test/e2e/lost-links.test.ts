import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { helloStream } from '../bot/model/scripted-chat-server.ts';
import { useLaggingReplica } from '../support/lagging-replica.ts';
import { LINK, startSlackSignIns, type SlackSignIns } from '../support/slack-sign-ins.ts';
import { useSlackDeployment } from '../support/slack-deployment.ts';
import { untilTrue } from '../support/deployment.ts';

// What people decide about their account (a sign-in, /unlink, /forget) right before a failover whose replica has not got it.

const ANSWER = 'It is answered.';
const deployment = useSlackDeployment();
const pair = useLaggingReplica(deployment);
let signIns: SlackSignIns;

beforeEach(async () => {
  signIns = await startSlackSignIns(deployment);
  deployment.chat.script(helloStream(ANSWER));
});
afterEach(async () => {
  await deployment.stopBots();
  await signIns.close();
});

const textsOf = (person: string) => deployment.textsIn(`D${person}`);
/** How many links were ever shown to somebody, also in messages that read otherwise by now. */
const linksShown = (person: string) => {
  const snapshots = deployment.slack.messages
    .filter(({ channel }) => channel === `D${person}`)
    .map(({ snapshots: all }) => all);
  return new Set(snapshots.flat().flatMap((text) => LINK.exec(text) ?? [])).size;
};
const isAnswered = (person: string, count = 1) => textsOf(person).filter((text) => text === ANSWER).length === count;

/** Asks something, and opens the link that is shown instead of an answer. @returns what presses the page's button */
async function beginSignIn(person: string): Promise<() => Promise<void>> {
  await deployment.sender.direct(person, 'a question');
  const { press } = await signIns.walkToConfirm(person, await signIns.linkOf(person));
  return async () => {
    const page = await press();
    expect(page.text).toContain('You are signed in');
  };
}

const untilAnswered = (person: string, count = 1) =>
  untilTrue(() => isAnswered(person, count), 20_000).catch(() => expect(textsOf(person)).toEqual([ANSWER]));
const untilSaid = (person: string, words: RegExp) =>
  untilTrue(() => textsOf(person).some((text) => words.test(text))).catch(() =>
    expect(textsOf(person)).toContainEqual(expect.stringMatching(words)),
  );
/** A text is whole before its message has its last snapshot, and its turn its end; only then it is known to stand. */
const untilAllEnded = () => untilTrue(async () => (await pair.toMaster('KEYS', '{p*}:inbox:*')) === '');
const histories = async () => (await pair.toReplica('KEYS', '{p*}:history:*')).split(',').length;
/** The ids of this bot's connections to the new master by which something waits to be written. */
const waitingClients = async (name: string) =>
  [
    ...(await pair.toReplica('CLIENT', 'LIST')).matchAll(
      new RegExp(`^id=(\\d+) .*name=parley-${name} .*flags=b`, 'gm'),
    ),
  ].map(([, id = '']) => id);
const UNLINKED = /^You are signed out/;

test('a sign-in that a failover takes back is made again: what waited and what comes next is answered, and no new link is shown', async () => {
  await deployment.startBot(signIns.env);
  await untilTrue(pair.isReady);
  const confirm = await beginSignIn('U1');
  await pair.untilCaughtUp();
  pair.replication.breakWith({ kind: 'hold', heals: false });
  await confirm();
  await untilAnswered('U1');
  await untilAllEnded();
  await pair.failOver();
  await untilTrue(pair.isReady);
  await deployment.sender.direct('U1', 'the next question');
  await untilAnswered('U1', 2);
  expect(linksShown('U1')).toBe(1);
  expect(deployment.chat.calls).toHaveLength(2);
}, 60_000);

test('/unlink and /forget that a failover takes back are done again, in the order in which people asked for them', async () => {
  await deployment.startBot(signIns.env);
  await untilTrue(pair.isReady);
  const people = ['U2', 'U3', 'U4', 'U5'];
  const confirms = await Promise.all(people.map(beginSignIn));
  const [confirm2, confirm3, confirm4, confirm5] = confirms;
  // What the replica knows: two that are signed in and have asked something, and two that are about to sign in.
  for (const [person, confirm] of [
    ['U2', confirm2],
    ['U5', confirm5],
  ] as const) {
    await confirm?.();
    await untilAnswered(person);
  }
  await untilAllEnded();
  await pair.untilCaughtUp();
  expect(await histories()).toBe(4);
  pair.replication.breakWith({ kind: 'hold', heals: false });
  await deployment.sender.direct('U2', '/unlink');
  await deployment.sender.direct('U5', '/forget');
  await Promise.all([confirm3?.(), confirm4?.()]);
  for (const person of ['U3', 'U4']) {
    await untilAnswered(person);
    await deployment.sender.direct(person, '/unlink');
  }
  for (const person of ['U2', 'U3', 'U4']) await untilSaid(person, UNLINKED);
  await untilSaid('U5', /deleted/);
  // And one of them signs in once more.
  await deployment.sender.direct('U4', '/signin');
  await untilTrue(() => linksShown('U4') === 2);
  const link = textsOf('U4').flatMap((text) => LINK.exec(text) ?? [])[0] ?? '';
  const { press } = await signIns.walkToConfirm('U4', link);
  expect((await press()).text).toContain('You are signed in');
  await untilAllEnded();
  // Both of the process's connections bring back what they know; nothing is written before both have begun.
  await pair.toReplica('CLIENT', 'PAUSE', '20000', 'WRITE');
  await pair.failOver();
  await untilTrue(async () => (await waitingClients('receiver')).length * (await waitingClients('worker')).length > 0);
  // The pages made the links and the turns undid them: the pages' connection is the first to write.
  for (const id of await waitingClients('worker')) await pair.toReplica('CLIENT', 'KILL', 'ID', id);
  await pair.toReplica('CLIENT', 'UNPAUSE');
  await untilTrue(pair.isReady);
  // All but what was said in the thread that an answer began.
  await untilTrue(async () => (await histories()) === 1, 20_000);
  for (const person of people) await deployment.sender.direct(person, 'the next question');
  await untilAnswered('U4', 2);
  await untilAnswered('U5', 2);
  for (const person of ['U2', 'U3']) await untilSaid(person, /\[Sign in\]/);
  expect(['U2', 'U3'].map((person) => isAnswered(person))).toEqual([true, true]);
  // One that was undone is not there even for a moment: of all that were made and lost only the last one comes back.
  expect(deployment.lines.filter((line) => line.includes('"event":"linked-again"'))).toHaveLength(1);
}, 90_000);
