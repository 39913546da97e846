import { beforeAll, beforeEach, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { conversationKeys } from '../../../src/bot/domain/partition-keys.ts';
import { sealTurn } from '../../../src/bot/turn/conversation/history.ts';
import { conversationOf } from '../../../src/bot/domain/conversation.ts';
import { asDeliveryId } from '../../../src/bot/domain/ids.ts';
import type { TurnCommit } from '../../../src/bot/domain/turn.ts';
import { Inbox } from '../../../src/bot/queue/accept.ts';
import type { TurnStore } from '../../../src/bot/queue/turn-store.ts';
import { createPostLedger } from '../../../src/bot/reply/post-ledger.ts';
import { turnOf } from '../turn/conversation/turns.ts';
import { testKeyRing, textMessage } from '../../support/messages.ts';
import { useTestRedis } from '../../support/use-test-redis.ts';
import { DyingWorkersStore } from '../../support/dying-workers.ts';
import { tries } from '../../support/tries.ts';

// The cost of a turn in a long conversation, measured in commands and bytes because time is unreliable on a busy machine.

const keyRing = testKeyRing();
const alice = conversationOf(textMessage('x'), 'member');
const { history } = conversationKeys(alice);
const server = useTestRedis();
let inbox: Inbox;
let store: TurnStore;
beforeAll(async () => {
  const options = { redis: server.redis, keyRing, nowMs: Date.now, historyLifeMs: 600_000 };
  // The history of Redis is read with the first message only.
  inbox = new Inbox({ ...options, nowMs: () => 0, limits: { personPerMinute: 100_000 } });
  store = new DyingWorkersStore(options);
});
beforeEach(async () => {
  await server.redis.flushall();
});

const sealed = (turnId: string, letters = 600) =>
  sealTurn(
    keyRing,
    alice.id,
    turnOf({ turnId: asDeliveryId(turnId), userText: 'q'.repeat(letters / 2), assistantText: 'a'.repeat(letters / 2) }),
  );

async function runTurn(name: string) {
  await inbox.accept(alice, textMessage(name));
  const claim = await store.begin(alice);
  if (!claim) throw new Error('nothing waits');
  await store.commit(claim, { outcome: 'final', records: [], history: { append: sealed(name) } });
  return claim;
}

/** Commands that Redis has run so far, including those inside scripts and the previous reading. */
async function commandsSoFar(): Promise<number> {
  const calls = await server.redis.info('commandstats');
  return [...calls.matchAll(/cmdstat_[^:]+:calls=(\d+)/g)].reduce((sum, [, count]) => sum + Number(count), 0);
}

async function workOfTurn(name: string): Promise<{ commands: number; claimBytes: number; turns: number }> {
  const before = await commandsSoFar();
  const claim = await runTurn(name);
  const after = await commandsSoFar();
  const claimBytes = claim.history.reduce((sum, turn) => sum + turn.length, 0);
  return { commands: after - before, claimBytes, turns: claim.history.length };
}

test('a turn after 5,000 others costs the commands and bytes of one after 50, and the history stays at 200', async () => {
  for (let count = 0; count < 50; count += 1) await runTurn(`t${count}`);
  const early = await workOfTurn('early');
  for (let count = 51; count < 5_000; count += 500)
    await server.redis.rpush(history, ...Array.from({ length: 500 }, (_, index) => sealed(`t${count + index}`)));
  await runTurn('trims');
  expect(await server.redis.llen(history)).toBe(200);
  const late = await workOfTurn('late');
  // The oldest turn is removed.
  expect(late.commands).toBe(early.commands + 1);
  expect(late.turns).toBe(50);
  expect(late.claimBytes).toBeLessThan(early.claimBytes * 1.05);
});

test('a plain question takes 10 commands in Redis to be accepted, 12 to be claimed, 9 and 5 for its post and 15 to be committed', async () => {
  const costOf = async <Result>(work: () => Promise<Result>): Promise<[number, Result]> => {
    const before = await commandsSoFar();
    const result = await work();
    return [(await commandsSoFar()) - before - 1, result];
  };
  await runTurn('first');
  await server.redis.flushall();
  const [accepted] = await costOf(() => inbox.accept(alice, textMessage('plain')));
  const [begun, claim] = await costOf(() => store.begin(alice));
  if (!claim) throw new Error('nothing waits');
  const { conversation, epoch, turnId } = claim;
  const address = { conversation, epoch, deliveryId: turnId, place: 'place' };
  const ledger = createPostLedger({ redis: server.redis, ...address, doubtedAgeMs: 0 });
  const [noted] = await costOf(() => ledger.begin(0, { answer: 'sealed' }));
  const [recorded] = await costOf(() => ledger.record(0, 'handle'));
  const commit: TurnCommit = { outcome: 'final', records: [], history: { append: sealed('plain') } };
  const [committed] = await costOf(() => store.commit(claim, commit));
  // With the call of the script.
  expect({ accepted, begun, noted, recorded, committed }).toEqual({
    ...{ accepted: 10, begun: 12, noted: 9, recorded: 5, committed: 15 },
  });
});

test('the history read for a turn is limited to what a prompt can contain, for turns of any length', async () => {
  for (let count = 0; count < 50; count += 1) await server.redis.rpush(history, sealed(`t${count}`, 40_000));
  const { claimBytes, turns } = await workOfTurn('now');
  expect(claimBytes).toBeLessThan(24_000 * 8);
  expect(turns).toBeGreaterThan(1);
});

test('reads the newest turns whole and in order, and at least one of any length', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 100_000 }), { maxLength: 60 }), async (sizes) => {
      await server.redis.flushall();
      const records = sizes.map((size, index) => `${index}:`.padEnd(size, 'x'));
      if (records.length > 0) await server.redis.rpush(history, ...records);
      await inbox.accept(alice, textMessage('q'));
      const read = (await store.begin(alice))?.history ?? [];
      expect(read).toEqual(records.slice(records.length - read.length));
      const bytesOf = (some: string[]) => some.reduce((sum, { length }) => sum + length, 0);
      expect(read.length <= 1 || bytesOf(read) <= 192_000).toBe(true);
      const next = records.at(-read.length - 1);
      if (read.length < Math.min(50, records.length))
        expect(bytesOf(read) + (next?.length ?? 0)).toBeGreaterThan(192_000);
    }),
    { numRuns: tries(60) },
  );
});
