import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { helloStream } from '../bot/model/scripted-chat-server.ts';
import { useLaggingReplica } from '../support/lagging-replica.ts';
import { LINK, startSlackSignIns, type SlackSignIns } from '../support/slack-sign-ins.ts';
import { useSlackDeployment } from '../support/slack-deployment.ts';
import { untilTrue } from '../support/deployment.ts';

// Account decisions (a sign-in, /unlink, /forget) shortly before a failover to a replica that has not received them.

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
/** Number of links that a person was ever shown, including messages whose text has changed since. */
const linksShown = (person: string) => {
  const snapshots = deployment.slack.messages
    .filter(({ channel }) => channel === `D${person}`)
    .map(({ snapshots: all }) => all);
  return new Set(snapshots.flat().flatMap((text) => LINK.exec(text) ?? [])).size;
};
const isAnswered = (person: string, count = 1) => textsOf(person).filter((text) => text === ANSWER).length === count;

/** Asks a question and opens the link in the reply. @returns a function that presses the button of the page */
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
/** A text is complete before its message has its last snapshot and its turn ends. Only then is the order certain. */
const untilAllEnded = () => untilTrue(async () => (await pair.toMaster('KEYS', '{p*}:inbox:*')) === '');
const histories = async () => (await pair.toReplica('KEYS', '{p*}:history:*')).split(',').length;
/** Client ids of this bot's connections to the new master with waiting writes. */
const waitingClients = async (name: string) =>
  [
    ...(await pair.toReplica('CLIENT', 'LIST')).matchAll(
      new RegExp(`^id=(\\d+) .*name=parley-${name} .*flags=b`, 'gm'),
    ),
  ].map(([, id = '']) => id);
const UNLINKED = /^You are signed out/;

test('a sign-in lost in a failover is repeated: waiting and later questions are answered, and no new link is shown', async () => {
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

test('/unlink and /forget lost in a failover are repeated in the order of the requests', async () => {
  await deployment.startBot(signIns.env);
  await untilTrue(pair.isReady);
  const people = ['U2', 'U3', 'U4', 'U5'];
  const confirms = await Promise.all(people.map(beginSignIn));
  const [confirm2, confirm3, confirm4, confirm5] = confirms;
  // The replica knows two people who are signed in and have asked, and two who are about to sign in.
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
  // One of them signs in again.
  await deployment.sender.direct('U4', '/signin');
  await untilTrue(() => linksShown('U4') === 2);
  const link = textsOf('U4').flatMap((text) => LINK.exec(text) ?? [])[0] ?? '';
  const { press } = await signIns.walkToConfirm('U4', link);
  expect((await press()).text).toContain('You are signed in');
  await untilAllEnded();
  // Both connections of the process restore their writes. Nothing is written before both have started.
  await pair.toReplica('CLIENT', 'PAUSE', '20000', 'WRITE');
  await pair.failOver();
  await untilTrue(async () => (await waitingClients('receiver')).length * (await waitingClients('worker')).length > 0);
  // The pages created the links, and the turns removed them. The connection of the pages writes first.
  for (const id of await waitingClients('worker')) await pair.toReplica('CLIENT', 'KILL', 'ID', id);
  await pair.toReplica('CLIENT', 'UNPAUSE');
  await untilTrue(pair.isReady);
  // Everything except the history of the thread that an answer began.
  await untilTrue(async () => (await histories()) === 1, 20_000);
  for (const person of people) await deployment.sender.direct(person, 'the next question');
  await untilAnswered('U4', 2);
  await untilAnswered('U5', 2);
  for (const person of ['U2', 'U3']) await untilSaid(person, /\[Sign in\]/);
  expect(['U2', 'U3'].map((person) => isAnswered(person))).toEqual([true, true]);
  // A removed link is not restored even briefly: of several lost links only the last one returns.
  expect(deployment.lines.filter((line) => line.includes('"event":"linked-again"'))).toHaveLength(1);
}, 90_000);
