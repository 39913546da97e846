import { beforeAll, beforeEach, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { MINUTE_MS } from '../../../src/shared/clock.ts';
import { conversationKeys } from '../../../src/bot/domain/partition-keys.ts';
import { conversationOf, deliveryIdOf, personIdOf } from '../../../src/bot/domain/conversation.ts';
import { Inbox } from '../../../src/bot/queue/accept.ts';
import type { TurnCommit, TurnClaim } from '../../../src/bot/domain/turn.ts';
import type { TurnStore } from '../../../src/bot/queue/turn-store.ts';
import { ageMessages } from '../../support/age-messages.ts';
import { DyingWorkersStore } from '../../support/dying-workers.ts';
import { testKeyRing, textMessage } from '../../support/messages.ts';
import { useTestRedis } from '../../support/use-test-redis.ts';
import { tries } from '../../support/tries.ts';

type Person = 'anna' | 'ben';

const keyRing = testKeyRing();
const inGroup = (person: Person, text = 'question') =>
  textMessage(text, { chat: { kind: 'group', id: 'wrgroup' }, sender: { userId: person } });
const group = conversationOf(inGroup('anna'), 'group');
const personId = (person: Person) => personIdOf(inGroup(person), person);
const FINAL: TurnCommit = { outcome: 'final', records: [], history: { append: 'said' } };
const HELD: TurnCommit = { outcome: 'held', heldIn: 'group', records: [] };
const server = useTestRedis();
let store: TurnStore;
let inbox: Inbox;

beforeAll(async () => {
  const options = { redis: server.redis, keyRing, nowMs: () => Date.now() };
  store = new DyingWorkersStore({ ...options, historyLifeMs: MINUTE_MS });
  inbox = new Inbox({ ...options, limits: { personPerMinute: 1_000 } });
});
beforeEach(async () => {
  await server.redis.flushall();
});

async function say(person: Person): Promise<string> {
  const message = inGroup(person);
  await inbox.accept(group, message);
  return deliveryIdOf(message);
}
async function begin(): Promise<TurnClaim> {
  const claim = await store.begin(group);
  if (!claim) throw new Error('nothing waits');
  return claim;
}
async function hold(person: Person): Promise<string> {
  const id = await say(person);
  await store.commit(await begin(), HELD);
  return id;
}
const idsOf = (claim: TurnClaim) => claim.messages.map(({ deliveryId }) => deliveryId);

test('a sign-in releases only the person’s own questions in a shared conversation, and its history is kept', async () => {
  await say('ben');
  await store.commit(await begin(), FINAL);
  const [anna, ben] = [await hold('anna'), await hold('ben')];
  expect(await store.release(group, personId('anna'))).toEqual({ count: 1, isTurnOpen: false });
  const released = await begin();
  expect(idsOf(released)).toEqual([anna]);
  expect(released).toMatchObject({ wasHeldInGroup: true, heldCount: 0, history: ['said'] });
  await store.commit(released, FINAL);
  expect(await store.begin(group)).toBeUndefined();
  expect(await store.release(group, personId('ben'))).toEqual({ count: 1, isTurnOpen: false });
  expect(idsOf(await begin())).toEqual([ben]);
});

test('a released question keeps its age, and a sign-in does not reset it', async () => {
  await hold('anna');
  const oldestMs = 10 * MINUTE_MS;
  expect(await store.heldFor(group, personId('anna'), oldestMs)).toEqual({
    inPrivate: 0,
    inGroup: 1,
    tooOldInGroup: 0,
  });
  await ageMessages(server.redis, 11 * MINUTE_MS);
  expect(await store.heldFor(group, personId('anna'), oldestMs)).toEqual({
    inPrivate: 0,
    inGroup: 0,
    tooOldInGroup: 1,
  });
  expect(await store.heldFor(group, personId('ben'), oldestMs)).toEqual({ inPrivate: 0, inGroup: 0, tooOldInGroup: 0 });
  await store.release(group, personId('anna'));
  expect((await begin()).newestAgeMs).toBeGreaterThanOrEqual(11 * MINUTE_MS);
});

test('the number of held messages is counted separately for each person of a group', async () => {
  for (let count = 0; count < 3; count += 1) await hold('anna');
  await say('ben');
  expect((await begin()).heldCount).toBe(0);
  await store.commit(await begin(), HELD);
  await say('anna');
  expect((await begin()).heldCount).toBe(3);
});

test.each(['is open', 'has crashed'])(
  'a question released behind a turn that %s is answered before it, in the sender’s order [in-order]',
  async (state) => {
    const older = await hold('ben');
    const other = await hold('anna');
    const newer = await say('ben');
    let claim = await begin();
    for (const person of ['ben', 'anna'] as const) await store.release(group, personId(person));
    if (state === 'has crashed') claim = await begin();
    expect([idsOf(claim), claim.heldCount]).toEqual([[newer], 1]);
    expect(await store.releaseBefore(claim)).toBe(true);
    const answered: string[] = [];
    for (let next = await store.begin(group); next; next = await store.begin(group)) {
      answered.push(...idsOf(next));
      expect(await store.releaseBefore(next)).toBe(false);
      await store.commit(next, FINAL);
    }
    expect(answered).toEqual([older, newer, other]);
  },
);

test('a release by an older version, which names no person, releases the questions of everyone', async () => {
  const held = [await hold('anna'), await hold('ben')];
  expect(await store.release(group)).toEqual({ count: 2, isTurnOpen: false });
  const back: string[] = [];
  for (let claim = await store.begin(group); claim; claim = await store.begin(group)) {
    back.push(...idsOf(claim));
    await store.commit(claim, FINAL);
  }
  expect(back).toEqual(held);
});

// A small model of the gate's rules for two people of one conversation: a turn whose sender is linked when it starts is
// answered, after that person's held questions; other turns are held. Links are made at any moment, a release is repeated
// while it meets an open turn, and any worker may die.
test('property: each question of a group is answered once, after its sender’s sign-in and in the sender’s order, for any timing of sign-ins', async () => {
  type Step = `${'ask' | 'link'} ${Person}` | 'begin' | 'end' | 'crash' | 'sweep';
  const all: Step[] = ['ask anna', 'ask ben', 'link anna', 'link ben', 'begin', 'end', 'crash', 'sweep'];
  await fc.assert(
    fc.asyncProperty(fc.array(fc.constantFrom<Step>(...all), { maxLength: 28 }), async (sequence) => {
      await server.redis.flushall();
      const sent: Record<Person, string[]> = { anna: [], ben: [] };
      const answered: Record<Person, string[]> = { anna: [], ben: [] };
      const [linked, releasing] = [new Set<Person>(), new Set<Person>()];
      const early: string[] = [];
      let running: { claim: TurnClaim; sawLink: boolean; who: Person } | undefined;
      const walk = {
        async begin() {
          const claim = running ? undefined : await store.begin(group);
          const who = claim?.messages.at(-1)?.message.sender.userId as Person;
          if (claim) running = { claim, who, sawLink: linked.has(who) };
        },
        async end() {
          if (!running) return;
          const { claim, sawLink, who } = running;
          running = undefined;
          if (sawLink && claim.heldCount > 0 && (await store.releaseBefore(claim))) return;
          await store.commit(claim, sawLink ? FINAL : HELD);
          if (!sawLink) return;
          answered[who].push(...idsOf(claim));
          if (!linked.has(who)) early.push(who);
        },
        crash: async () => void (running = undefined),
        async sweep() {
          for (const who of releasing)
            if (!(await store.release(group, personId(who))).isTurnOpen) releasing.delete(who);
        },
      };
      const take = async (step: Step) => {
        const [what, who] = step.split(' ') as [string, Person];
        if (what === 'ask') sent[who].push(await say(who));
        else if (what === 'link') {
          if (!linked.has(who)) releasing.add(who);
          linked.add(who);
          await walk.sweep();
        } else await walk[step as keyof typeof walk]();
      };
      for (const step of sequence) await take(step);
      for (const who of ['anna', 'ben'] as const) await take(`link ${who}`);
      for (let round = 0; round < 2 * sequence.length + 2; round += 1)
        for (const step of ['begin', 'end', 'sweep'] as const) await walk[step]();
      expect(answered).toEqual(sent);
      expect(early).toEqual([]);
      expect(await server.redis.llen(conversationKeys(group).held)).toBe(0);
    }),
    { numRuns: tries(40) },
  );
}, 60_000);
