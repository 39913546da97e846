import { expect, test } from '@jest/globals';
import { Deferred } from '../../../src/shared/deferred.ts';
import { conversationOf } from '../../../src/bot/domain/conversation.ts';
import { reclaimFromWorkers } from '../../../src/bot/queue/reclaim.ts';
import { SILENT_CLAIM_MS } from '../../../src/bot/queue/turn-lease.ts';
import { TurnStore } from '../../../src/bot/queue/turn-store.ts';
import type { TurnClaim, TurnControls } from '../../../src/bot/domain/turn.ts';
import { conversationKeys } from '../../../src/bot/domain/partition-keys.ts';
import { shardNames } from '../../../src/bot/queue/wake-queue.ts';
import { messageOf, until, useWorkerFixture } from './worker-fixture.ts';

const fixture = useWorkerFixture();
const { name, prefix } = shardNames(0);
const jobs = (list: 'active' | 'wait') => fixture.server.redis.lrange(`${prefix}:${name}:${list}`, 0, -1);

/** A store with production claim lifetimes and this name as prefix of its claims. */
function storeOf(workerName: string): TurnStore {
  const { keyRing, server } = fixture;
  return new TurnStore({ redis: server.redis, keyRing, nowMs: () => Date.now(), historyLifeMs: 60_000, workerName });
}

/** Never resolves. Rejects when the worker stops, since a turn that goes on would keep the test process alive. */
function untilStopped(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(new Error('the worker stops')), { once: true });
  });
}

/** Starts a worker that claims a person's question and does not finish it. @returns ends the turn */
async function takeFor(workerName: string, person: string): Promise<() => void> {
  let end: () => void = () => undefined;
  const worker = fixture.startWorker(
    async () => {
      await new Promise<void>((resolve) => (end = resolve));
      return { outcome: 'final', records: [] };
    },
    { store: storeOf(workerName), concurrency: 1 },
  );
  await fixture.send(messageOf(person, 'a question'));
  await until(() => worker.runningTurns === 1);
  return () => end();
}

const reclaimOptions = () => ({ redis: fixture.server.redis, shards: 1, wakeQueue: fixture.wakeQueue });
const conversation = (person: string) => conversationOf(messageOf(person, ''), 'member');

test('reclaims the turn of a dead worker at once and counts a crash, but leaves the turn of a live worker alone', async () => {
  const endLive = await takeFor('live', 'bob');
  const endDead = await takeFor('dead', 'alice');
  const next = storeOf('next');
  expect(await next.begin(conversation('alice'))).toBeUndefined();
  const options = reclaimOptions();
  expect(await reclaimFromWorkers(['dead', 'unknown'], options)).toBe(1);
  expect([await jobs('active'), await jobs('wait')]).toEqual([[expect.any(String)], [expect.any(String)]]);
  expect(await next.begin(conversation('alice'))).toMatchObject({ crashes: 1, wasBegun: true });
  expect(await next.begin(conversation('bob'))).toBeUndefined();
  // Repeating the report is harmless: it does not affect the worker that took the turn over.
  expect(await reclaimFromWorkers(['dead'], options)).toBe(0);
  expect(await storeOf('third').begin(conversation('alice'))).toBeUndefined();
  endLive();
  endDead();
});

test('counts no crash when a worker dies while its turn only waits, and one when it dies after the turn runs again [poison-turns]', async () => {
  const endWaits: (() => void)[] = [];
  let isOn = false;
  const run = async ({ waitIdle, signal }: TurnControls) => {
    await waitIdle(() => Promise.race([new Promise<void>((resolve) => endWaits.push(resolve)), untilStopped(signal)]));
    isOn = true;
    return untilStopped(signal);
  };
  const options = reclaimOptions();
  const { state } = conversationKeys(conversation('alice'));
  const isRunning = async () => (await fixture.server.redis.hget(state, 'running')) === '1';
  const first = fixture.startWorker(run, { store: storeOf('first'), concurrency: 1 });
  await fixture.send(messageOf('alice', 'a question'));
  await until(async () => first.runningTurns === 1 && !(await isRunning()));
  await reclaimFromWorkers(['first'], options);
  const second = fixture.startWorker(run, { store: storeOf('second'), concurrency: 1 });
  await until(async () => second.runningTurns === 1 && endWaits.length === 2);
  endWaits[1]?.();
  await until(() => isOn);
  expect(await isRunning()).toBe(true);
  await reclaimFromWorkers(['second'], options);
  expect(await storeOf('third').begin(conversation('alice'))).toMatchObject({ crashes: 1, wasBegun: true });
});

test('refuses a late commit of the dead worker', async () => {
  const claims: TurnClaim[] = [];
  const store = storeOf('dead');
  const worker = fixture.startWorker(
    async ({ claim, signal }) => {
      claims.push(claim);
      return untilStopped(signal);
    },
    { store },
  );
  await fixture.send(messageOf('alice', 'a question'));
  await until(() => worker.runningTurns === 1);
  await reclaimFromWorkers(['dead'], reclaimOptions());
  const taken = await storeOf('next').begin(conversation('alice'));
  const [claim] = claims;
  if (!claim || !taken) throw new Error('nobody took it');
  expect(await store.renew(claim)).toBeUndefined();
  expect(await store.commit(claim, { outcome: 'final', records: [] })).toBe('stale');
  expect(await storeOf('next').commit(taken, { outcome: 'final', records: [] })).toBe(0);
});

test('gives back a wake that the dead worker has fetched and not claimed [quick-takeover]', async () => {
  const fetched = new Deferred();
  const end = new Deferred<undefined>();
  const begin = () => (fetched.resolve(), end.promise);
  fixture.startWorker(({ signal }) => untilStopped(signal), {
    store: Object.assign(storeOf('dead'), { begin }),
    concurrency: 1,
  });
  await fixture.send(messageOf('alice', 'a question'));
  await fetched.promise;
  expect(await reclaimFromWorkers(['live'], reclaimOptions())).toBe(0);
  expect([await jobs('active'), await jobs('wait')]).toEqual([[expect.any(String)], []]);
  expect(await reclaimFromWorkers(['dead'], reclaimOptions())).toBe(0);
  expect([await jobs('active'), await jobs('wait')]).toEqual([[], [expect.any(String)]]);
  end.resolve(undefined);
});

test.each([
  { claimedBy: 'dead', absence: 'dead', unrenewedMs: 0, ended: 1 },
  { claimedBy: 'dead+part', absence: 'dead', unrenewedMs: 0, ended: 1 },
  { claimedBy: 'deadly', absence: 'dead', unrenewedMs: 0, ended: 0 },
  { claimedBy: 'dead', absence: 'silent', unrenewedMs: 0, ended: 0 },
  { claimedBy: 'dead', absence: 'silent', unrenewedMs: SILENT_CLAIM_MS, ended: 1 },
] as const)(
  'wakes the turns without a wake of a $absence worker if its claim is not renewed [quick-takeover] ($claimedBy, $ended)',
  async ({ claimedBy, absence, unrenewedMs, ended }) => {
    await fixture.inbox.accept(conversation('alice'), messageOf('alice', 'a question'));
    await storeOf(claimedBy).begin(conversation('alice'));
    const { state } = conversationKeys(conversation('alice'));
    await fixture.server.redis.hincrby(state, 'aliveMs', -unrenewedMs);
    expect(await reclaimFromWorkers(['dead'], { ...reclaimOptions(), absence })).toBe(ended);
    expect(await jobs('wait')).toHaveLength(ended);
    expect((await storeOf('next').begin(conversation('alice'))) !== undefined).toBe(ended === 1);
  },
);
