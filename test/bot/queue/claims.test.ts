import { beforeAll, beforeEach, expect, test } from '@jest/globals';
import { conversationKeys } from '../../../src/bot/domain/partition-keys.ts';
import { conversationOf } from '../../../src/bot/domain/conversation.ts';
import { Inbox } from '../../../src/bot/queue/accept.ts';
import { CLAIM_LIFE_MS, TurnStore } from '../../../src/bot/queue/turn-store.ts';
import { type TurnClaim } from '../../../src/bot/domain/turn.ts';
import { testKeyRing, textMessage } from '../../support/messages.ts';
import { useTestRedis } from '../../support/use-test-redis.ts';

const alice = conversationOf(textMessage('x'), 'member');
const { state } = conversationKeys(alice);
const server = useTestRedis();
let options: ConstructorParameters<typeof TurnStore>[0];
let worker: TurnStore;
let other: TurnStore;

beforeAll(async () => {
  options = { redis: server.redis, keyRing: testKeyRing(), nowMs: () => Date.now(), historyLifeMs: 60_000 };
});
beforeEach(async () => {
  await server.redis.flushall();
  worker = new TurnStore(options);
  other = new TurnStore(options);
  const message = textMessage('a question');
  await new Inbox(options).accept(alice, message);
});

/** Expires the claim: its worker has not renewed it for a while, as after a crash or a stall. */
const letRunOut = () => server.redis.hincrby(state, 'aliveMs', -CLAIM_LIFE_MS);
const begin = async (store: TurnStore): Promise<TurnClaim> => {
  const claim = await store.begin(alice);
  if (!claim) throw new Error('nothing to claim');
  return claim;
};

test('a claim cannot be taken over while its worker renews it, but can once it has expired', async () => {
  const claim = await begin(worker);
  expect(await other.begin(alice)).toBeUndefined();
  expect(await worker.begin(alice)).toBeUndefined();
  await letRunOut();
  await worker.renew(claim);
  expect(await other.begin(alice)).toBeUndefined();
  await letRunOut();
  expect(await begin(other)).toMatchObject({ turnId: claim.turnId, crashes: 1 });
  expect(await worker.renew(claim)).toBeUndefined();
});

test('a claim dated in the future can be taken over after Redis’ clock was set back', async () => {
  await begin(worker);
  await server.redis.hincrby(state, 'aliveMs', 3_600_000);
  expect((await begin(other)).crashes).toBe(1);
});

test('a turn that its own worker claims again is not counted as crashed', async () => {
  await begin(worker);
  await letRunOut();
  expect(await begin(worker)).toMatchObject({ crashes: 0, wasBegun: true });
});

test('a live worker withdraws the crash counted for it, once, but no other crash', async () => {
  const first = await begin(worker);
  await letRunOut();
  expect(await begin(other)).toMatchObject({ crashes: 1 });
  expect(await worker.retractCrash({ ...first, claimId: 'somebody.else' })).toBe(false);
  expect(await worker.retractCrash(first)).toBe(true);
  expect(await worker.retractCrash(first)).toBe(false);
  await letRunOut();
  // The second worker does not withdraw its crash.
  expect(await begin(worker)).toMatchObject({ crashes: 1 });
});

test('a turn that was given back can be claimed at once, and its former worker is refused', async () => {
  const claim = await begin(worker);
  expect(await worker.giveBack(claim, 0)).toBe(true);
  expect(await worker.renew(claim)).toBeUndefined();
  expect(await worker.storeAnswer(claim, 'too late')).toBe(false);
  expect(await worker.commit(claim, { outcome: 'final', records: [] })).toBe('stale');
  const next = await begin(other);
  expect(next).toMatchObject({ crashes: 0, turnId: claim.turnId });
  expect(next.storedAnswer).toBeUndefined();
});

test('a committed turn has no claim left, so that a later wake starts a new turn', async () => {
  const claim = await begin(worker);
  expect(await worker.commit(claim, { outcome: 'final', records: [] })).toBe(0);
  expect(await worker.renew(claim)).toBeUndefined();
});

test('a turn that only waits keeps its claim', async () => {
  const claim = await begin(worker);
  await worker.markWaiting(claim);
  expect(await other.begin(alice)).toBeUndefined();
});

test('dueForMs is measured by Redis’ clock from the end of the previous turn', async () => {
  options = { ...options, nowMs: () => Date.now() + 600_000 };
  const claim = await begin(new TurnStore(options));
  expect(claim.dueForMs).toBeLessThan(60_000);
  const { inbox } = conversationKeys(alice);
  const [entry = ''] = await server.redis.lrange(inbox, 0, 0);
  // A second message, stamped an hour ago, that was waiting behind the first one until now.
  const [id = '', , atMs = '', , ...sealed] = entry.split(':');
  await server.redis.rpush(inbox, [id, '-', String(Number(atMs) - 3_600_000), '2', ...sealed].join(':'));
  expect(await worker.commit(claim, { outcome: 'final', records: [] })).toBe(1);
  expect((await begin(other)).dueForMs).toBeLessThan(60_000);
});
