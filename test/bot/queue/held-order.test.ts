import { beforeAll, beforeEach, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { MINUTE_MS } from '../../../src/shared/clock.ts';
import { conversationKeys, messageKey } from '../../../src/bot/domain/partition-keys.ts';
import { conversationOf, deliveryIdOf } from '../../../src/bot/domain/conversation.ts';
import type { InboundMessage } from '../../../src/bot/domain/message.ts';
import { Inbox } from '../../../src/bot/queue/accept.ts';
import type { TurnCommit, TurnClaim } from '../../../src/bot/domain/turn.ts';
import type { TurnStore } from '../../../src/bot/queue/turn-store.ts';
import { DyingWorkersStore } from '../../support/dying-workers.ts';
import { testKeyRing, textMessage } from '../../support/messages.ts';
import { useTestRedis } from '../../support/use-test-redis.ts';
import { tries } from '../../support/tries.ts';

const keyRing = testKeyRing();
const alice = conversationOf(textMessage('x'), 'member');
const FINAL: TurnCommit = { outcome: 'final', records: [] };
const HELD: TurnCommit = { outcome: 'held', records: [] };
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

const say = async (text: string) => {
  const message = textMessage(text);
  await inbox.accept(alice, message);
  return message;
};
const begin = async () => {
  const claim = await store.begin(alice);
  if (!claim) throw new Error('nothing waits');
  return claim;
};
const hold = async () => store.commit(await begin(), HELD);
const idsOf = (claim: TurnClaim) => claim.messages.map(({ deliveryId }) => deliveryId);

test('a question held after the release of older ones returns behind them', async () => {
  const first = await say('first');
  await hold();
  const second = await say('second');
  const running = await begin();
  expect(await store.release(alice)).toEqual({ count: 1, isTurnOpen: true });
  await store.commit(running, HELD);
  expect(await store.release(alice)).toEqual({ count: 1, isTurnOpen: false });
  expect(idsOf(await begin())).toEqual([first, second].map(deliveryIdOf));
});

test('a turn yields once to held messages without counting a crash, and a replaced worker’s yield has no effect', async () => {
  const first = await say('first');
  await hold();
  const second = await say('second');
  const replaced = await begin();
  const running = await begin();
  const { held } = conversationKeys(alice);
  // It returns true because the replaced turn ends in either case.
  expect(await store.releaseBefore(replaced)).toBe(true);
  expect(await server.redis.llen(held)).toBe(1);
  expect(await store.releaseBefore(running)).toBe(true);
  expect(await server.redis.llen(held)).toBe(0);
  // A repeat, as sent by a connection that broke before the reply arrived.
  expect(await store.releaseBefore(running)).toBe(true);
  const next = await begin();
  expect(next).toMatchObject({ crashes: 0, heldCount: 0 });
  expect(idsOf(next)).toEqual([first, second].map(deliveryIdOf));
});

test('a message with its own invitation in the app is answered there, and no newer message is merged with it', async () => {
  const said: InboundMessage[] = [];
  for (const text of ['shown', 'not shown', 'shown too']) said.push(await say(text));
  for (const [index, isShown] of [true, false, true].entries()) {
    const id = deliveryIdOf(said[index] ?? textMessage(''));
    if (isShown) await server.redis.hset(messageKey(alice.partition, id), 'post:0', 'handle');
  }
  await hold();
  await store.release(alice);
  // Held and released again, as after a link that was undone at once.
  await hold();
  await hold();
  await store.release(alice);
  said.push(await say('later'));
  const turns: string[][] = [];
  for (let claim = await store.begin(alice); claim; claim = await store.begin(alice)) {
    turns.push(idsOf(claim));
    await store.commit(claim, FINAL);
  }
  const [shown, hidden, shownToo, later] = said.map(deliveryIdOf);
  expect(turns).toEqual([[shown], [hidden, shownToo], [later]]);
});

test('messages released without a link, behind an open turn that was then held, return in their original order', async () => {
  const first = await say('first');
  await hold();
  const second = await say('second');
  const running = await begin();
  // The release of a link that was undone: the person is not linked, and both questions are held again.
  await store.release(alice);
  await store.commit(running, HELD);
  await hold();
  await store.release(alice);
  expect(idsOf(await begin())).toEqual([first, second].map(deliveryIdOf));
});

// A small model of the gate's rules: a turn that sees the link when it starts is answered, after the held messages; other
// turns are held. A release is repeated while it meets an open turn. The link is made at any moment, and an earlier, undone
// link may trigger a release without effect at any other.
test('property: each question is answered once and in order, for any time of the link', async () => {
  type Step = 'ask' | 'begin' | 'end' | 'crash' | 'link' | 'sweep' | 'vain';
  const all: Step[] = ['ask', 'begin', 'end', 'crash', 'link', 'sweep', 'vain'];
  const steps = fc.array(fc.constantFrom(...all), { maxLength: 24 });
  await fc.assert(
    fc.asyncProperty(steps, async (sequence) => {
      await server.redis.flushall();
      const [sent, answered]: [string[], string[]] = [[], []];
      let [isLinked, isReleasing] = [false, false];
      let running: { claim: TurnClaim; sawLink: boolean } | undefined;
      const walk: Record<Step, () => Promise<void>> = {
        ask: async () => void sent.push(deliveryIdOf(await say('question'))),
        async begin() {
          const claim = running ? undefined : await store.begin(alice);
          if (claim) running = { claim, sawLink: isLinked };
        },
        async end() {
          if (!running) return;
          const { claim, sawLink } = running;
          running = undefined;
          if (sawLink && claim.heldCount > 0 && (await store.releaseBefore(claim))) return;
          await store.commit(claim, sawLink ? FINAL : HELD);
          if (sawLink) answered.push(...idsOf(claim));
        },
        crash: async () => void (running = undefined),
        async link() {
          isReleasing ||= !isLinked;
          isLinked = true;
          await walk.sweep();
        },
        async vain() {
          if (!isLinked) await store.release(alice);
        },
        async sweep() {
          if (isReleasing) isReleasing = (await store.release(alice)).isTurnOpen;
        },
      };
      for (const step of sequence) await walk[step]();
      await walk.link();
      for (let round = 0; round < 2 * sequence.length + 2; round += 1)
        for (const step of ['begin', 'end', 'sweep'] as const) await walk[step]();
      expect(answered).toEqual(sent);
      expect(await server.redis.llen(conversationKeys(alice).held)).toBe(0);
    }),
    { numRuns: tries(100) },
  );
});
