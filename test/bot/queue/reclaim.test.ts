import { expect, test } from '@jest/globals';
import { conversationOf } from '../../../src/bot/domain/conversation.ts';
import { reclaimFromDeadWorkers } from '../../../src/bot/queue/reclaim.ts';
import { TurnStore } from '../../../src/bot/queue/turn-store.ts';
import type { TurnClaim, TurnControls } from '../../../src/bot/domain/turn.ts';
import { conversationKeys } from '../../../src/bot/domain/partition-keys.ts';
import { shardNames } from '../../../src/bot/queue/wake-queue.ts';
import { messageOf, until, useWorkerFixture } from './worker-fixture.ts';

const fixture = useWorkerFixture();
const { name, prefix } = shardNames(0);
const jobs = (list: 'active' | 'wait') => fixture.server.redis.lrange(`${prefix}:${name}:${list}`, 0, -1);

/** A store whose claims live as long as in earnest, and begin with this name. */
function storeOf(workerName: string): TurnStore {
  const { keyRing, server } = fixture;
  return new TurnStore({ redis: server.redis, keyRing, nowMs: () => Date.now(), historyLifeMs: 60_000, workerName });
}

/** A worker that has taken a person's question and never ends with it. */
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

const conversation = (person: string) => conversationOf(messageOf(person, ''), 'member');

test('what a dead worker had taken is taken up at once, and counted as a crash; what a live one has stays its own', async () => {
  const endLive = await takeFor('live', 'bob');
  const endDead = await takeFor('dead', 'alice');
  const next = storeOf('next');
  expect(await next.begin(conversation('alice'))).toBeUndefined();
  const options = { redis: fixture.server.redis, shards: 1, isolation: fixture.isolation };
  expect(await reclaimFromDeadWorkers(['dead', 'unknown'], options)).toBe(1);
  expect([await jobs('active'), await jobs('wait')]).toEqual([[expect.any(String)], [expect.any(String)]]);
  expect(await next.begin(conversation('alice'))).toMatchObject({ crashes: 1, wasBegun: true });
  expect(await next.begin(conversation('bob'))).toBeUndefined();
  // It may be said twice, and takes nothing from whoever took it up.
  expect(await reclaimFromDeadWorkers(['dead'], options)).toBe(0);
  expect(await storeOf('third').begin(conversation('alice'))).toBeUndefined();
  endLive();
  endDead();
}, 20_000);

test('who dies while its turn only waits takes it up again without a crash; who dies when it runs on, with one [poison-turns]', async () => {
  const endWaits: (() => void)[] = [];
  let isOn = false;
  const run = async ({ waitIdle }: TurnControls) => {
    await waitIdle(() => new Promise<void>((resolve) => endWaits.push(resolve)));
    isOn = true;
    return new Promise<never>(() => undefined);
  };
  const options = { redis: fixture.server.redis, shards: 1, isolation: fixture.isolation };
  const { state } = conversationKeys(conversation('alice'));
  const isRunning = async () => (await fixture.server.redis.hget(state, 'running')) === '1';
  const first = fixture.startWorker(run, { store: storeOf('first'), concurrency: 1 });
  await fixture.send(messageOf('alice', 'a question'));
  await until(async () => first.runningTurns === 1 && !(await isRunning()));
  await reclaimFromDeadWorkers(['first'], options);
  const second = fixture.startWorker(run, { store: storeOf('second'), concurrency: 1 });
  await until(async () => second.runningTurns === 1 && endWaits.length === 2);
  endWaits[1]?.();
  await until(() => isOn);
  expect(await isRunning()).toBe(true);
  await reclaimFromDeadWorkers(['second'], options);
  expect(await storeOf('third').begin(conversation('alice'))).toMatchObject({ crashes: 1, wasBegun: true });
}, 20_000);

test('a last word of the dead one that comes late is refused', async () => {
  const claims: TurnClaim[] = [];
  const store = storeOf('dead');
  const worker = fixture.startWorker(
    async ({ claim }) => {
      claims.push(claim);
      return new Promise(() => undefined);
    },
    { store },
  );
  await fixture.send(messageOf('alice', 'a question'));
  await until(() => worker.runningTurns === 1);
  await reclaimFromDeadWorkers(['dead'], { redis: fixture.server.redis, shards: 1, isolation: fixture.isolation });
  const taken = await storeOf('next').begin(conversation('alice'));
  const [claim] = claims;
  if (!claim || !taken) throw new Error('nobody took it');
  expect(await store.renew(claim)).toBeUndefined();
  expect(await store.commit(claim, { outcome: 'final', records: [] })).toBe('stale');
  expect(await storeOf('next').commit(taken, { outcome: 'final', records: [] })).toBe(0);
}, 20_000);
