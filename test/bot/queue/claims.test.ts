import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { conversationKeys } from '../../../src/bot/domain/partition-keys.ts';
import { conversationOf } from '../../../src/bot/domain/conversation.ts';
import { Inbox } from '../../../src/bot/queue/accept.ts';
import { CLAIM_LIFE_MS, TurnStore } from '../../../src/bot/queue/turn-store.ts';
import { type TurnClaim } from '../../../src/bot/domain/turn.ts';
import { testKeyRing, textMessage } from '../../support/messages.ts';
import { startTestRedis, type TestRedis } from '../../support/redis.ts';

const alice = conversationOf(textMessage('x'), 'member');
const { state } = conversationKeys(alice);
let server: TestRedis;
let options: ConstructorParameters<typeof TurnStore>[0];
let worker: TurnStore;
let other: TurnStore;

beforeAll(async () => {
  server = await startTestRedis();
  options = { redis: server.redis, keyRing: testKeyRing(), nowMs: () => Date.now(), historyLifeMs: 60_000 };
});
afterAll(() => server.stop());
beforeEach(async () => {
  await server.redis.flushall();
  worker = new TurnStore(options);
  other = new TurnStore(options);
  const message = textMessage('a question');
  await new Inbox(options).accept(alice, message);
});

/** A claim that its worker has not renewed for a while, as after a crash or a stall. */
const letRunOut = () => server.redis.hincrby(state, 'aliveMs', -CLAIM_LIFE_MS);
const begin = async (store: TurnStore): Promise<TurnClaim> => {
  const claim = await store.begin(alice);
  if (!claim) throw new Error('nothing to claim');
  return claim;
};

test('a claim that its worker renews is left alone, and taken once it has run out', async () => {
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

test('a clock of Redis that is set back keeps no claim alive for ever', async () => {
  await begin(worker);
  await server.redis.hincrby(state, 'aliveMs', 3_600_000);
  expect((await begin(other)).crashes).toBe(1);
});

test('a turn that its own worker takes once more has not crashed', async () => {
  await begin(worker);
  await letRunOut();
  expect(await begin(worker)).toMatchObject({ crashes: 0, wasBegun: true });
});

test('a worker that lives takes the crash back that was counted for it, once, and no other one', async () => {
  const first = await begin(worker);
  await letRunOut();
  expect(await begin(other)).toMatchObject({ crashes: 1 });
  expect(await worker.notCrashed({ ...first, claimId: 'somebody.else' })).toBe(false);
  expect(await worker.notCrashed(first)).toBe(true);
  expect(await worker.notCrashed(first)).toBe(false);
  await letRunOut();
  // The second worker says nothing: it has crashed.
  expect(await begin(worker)).toMatchObject({ crashes: 1 });
});

test('a turn that was given back is free at once, and refuses whoever gave it back', async () => {
  const claim = await begin(worker);
  expect(await worker.giveBack(claim, 0)).toBe(true);
  expect(await worker.renew(claim)).toBeUndefined();
  expect(await worker.storeAnswer(claim, 'too late')).toBe(false);
  expect(await worker.commit(claim, { outcome: 'final', records: [] })).toBe('stale');
  const next = await begin(other);
  expect(next).toMatchObject({ crashes: 0, turnId: claim.turnId });
  expect(next.storedAnswer).toBeUndefined();
});

test('a committed turn has no claim any more, so that a wake for what came after it is not taken for its own', async () => {
  const claim = await begin(worker);
  expect(await worker.commit(claim, { outcome: 'final', records: [] })).toBe(0);
  expect(await worker.renew(claim)).toBeUndefined();
});

test('a turn that waits keeps its claim', async () => {
  const claim = await begin(worker);
  await worker.markWaiting(claim);
  expect(await other.begin(alice)).toBeUndefined();
});

test('how long a turn was due is told by Redis’ clock, from the end of the turn before it', async () => {
  options = { ...options, nowMs: () => Date.now() + 600_000 };
  const claim = await begin(new TurnStore(options));
  expect(claim.dueForMs).toBeLessThan(60_000);
  const { inbox } = conversationKeys(alice);
  const [entry = ''] = await server.redis.lrange(inbox, 0, 0);
  // A second message, stamped an hour ago: it waited behind the first one until now.
  const [id = '', , atMs = '', , ...sealed] = entry.split(':');
  await server.redis.rpush(inbox, [id, '-', String(Number(atMs) - 3_600_000), '2', ...sealed].join(':'));
  expect(await worker.commit(claim, { outcome: 'final', records: [] })).toBe(1);
  expect((await begin(other)).dueForMs).toBeLessThan(60_000);
});
