import { expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { startTcpProxy } from '../../support/tcp-proxy.ts';
import { conversationKeys } from '../../../src/bot/domain/partition-keys.ts';
import { Deferred } from '../../../src/shared/deferred.ts';
import { connectRedis } from '../../../src/shared/redis/redis.ts';
import { conversationOf } from '../../../src/bot/domain/conversation.ts';
import type { InboundMessage } from '../../../src/bot/domain/message.ts';
import { Inbox } from '../../../src/bot/queue/accept.ts';
import { keepWorkerPresence } from '../../../src/bot/queue/worker-presence.ts';
import { newWorkerName } from '../../../src/bot/queue/claim-name.ts';
import { Quarantine, type QuarantineProcess } from '../../../src/bot/queue/quarantine.ts';
import { endClaims } from '../../../src/bot/queue/reclaim.ts';
import { Sweeper } from '../../../src/bot/queue/sweeper.ts';
import { TurnStore } from '../../../src/bot/queue/turn-store.ts';
import type { RunTurn, TurnWorker } from '../../../src/bot/queue/turn-worker.ts';
import { testKeyRing, textMessage } from '../../support/messages.ts';
import { recordingLog } from '../../support/redis.ts';
import { WakeQueue } from '../../../src/bot/queue/wake-queue.ts';
import { MINUTE_MS, monotonicMs } from '../../../src/shared/clock.ts';
import { ageMessages } from '../../support/age-messages.ts';
import { messageOf, until, useWorkerFixture } from './worker-fixture.ts';

const { log } = recordingLog();
const fixture = useWorkerFixture();
const workload = () => ({ runningTurns: 0, maxTurns: 1, isDraining: false });
const conversationFor = (message: InboundMessage) => conversationOf(message, 'member');

/** Wakes every waiting conversation, as the sweeper would 10 s later. */
const sweepLater = () => new Sweeper({ ...fixture, redis: fixture.server.redis }).sweep(-5_000);
/** Accepts a message whose turn has crashed its workers. @returns its id */
async function acceptCrashed(message: InboundMessage, crashes: number): Promise<string> {
  const conversation = conversationFor(message);
  await fixture.inbox.accept(conversation, message);
  let claim = await fixture.store.begin(conversation);
  for (let crash = 0; crash < crashes; crash += 1) claim = await fixture.store.begin(conversation);
  if (claim) await fixture.store.giveBack(claim, 0);
  return claim?.turnId ?? '';
}
const untilAborted = (signal: AbortSignal) =>
  new Promise<void>((resolve) => (signal.aborted ? resolve() : signal.addEventListener('abort', () => resolve())));
const answers =
  (seen: string[]): RunTurn =>
  async ({ claim }) => {
    seen.push(claim.messages[0]?.message.sender.userId ?? '');
    return { outcome: 'final', records: [] };
  };

test('a running turn holds a 10 s lock, and a turn that threw leaves no job behind [quick-takeover]', async () => {
  let isEnding = false;
  const worker = fixture.startWorker(async () => {
    await until(() => isEnding);
    throw new Error('not expected');
  });
  await fixture.send(textMessage('q'));
  await until(() => worker.runningTurns === 1);
  const [lock = ''] = await fixture.server.redis.keys('{wake0}:turns:*:lock');
  const lifeMs = await fixture.server.redis.pttl(lock);
  expect(lifeMs).toBeGreaterThan(5_000);
  expect(lifeMs).toBeLessThanOrEqual(10_000);
  isEnding = true;
  await until(() => fixture.reported.includes('run failed'));
  await until(async () => (await fixture.server.redis.keys('{wake0}:turns:*:lock')).length === 0);
  // No delayed job, which would absorb later wakes, and no failed job is kept.
  for (const set of ['delayed', 'failed']) expect(await fixture.server.redis.zcard(`{wake0}:turns:${set}`)).toBe(0);
});

test('a worker that loses only BullMQ’s lock continues, and another worker given its wake leaves the turn alone [quick-takeover]', async () => {
  const runs: string[] = [];
  let isEnding = false;
  const runTurn: RunTurn = async ({ claim, signal }) => {
    runs.push(claim.turnId);
    await until(() => isEnding || signal.aborted, 15_000);
    signal.throwIfAborted();
    return { outcome: 'final', records: [] };
  };
  const worker = fixture.startWorker(runTurn);
  const message = textMessage('q');
  await fixture.send(message);
  await until(() => worker.runningTurns === 1);
  const [lock = ''] = await fixture.server.redis.keys('{wake0}:turns:*:lock');
  await fixture.server.redis.set(lock, 'somebody else', 'PX', 60_000);
  await until(() => fixture.reported.includes('lock lost'));
  // As another worker receives it once the scan has found the lost lock.
  expect(
    await new TurnStore({ ...fixture, redis: fixture.server.redis, nowMs: Date.now, historyLifeMs: 60_000 }).begin(
      conversationFor(message),
    ),
  ).toBeUndefined();
  isEnding = true;
  await until(() => worker.runningTurns === 0);
  expect(runs).toHaveLength(1);
  expect(fixture.reported).not.toContain('fenced');
  expect(await fixture.store.begin(conversationFor(message))).toBeUndefined();
});

/**
 * A quarantine whose processes are workers in this one. A turn of the user “poison” kills its process.
 * @param runIn receives whose turns they run @param parent the worker that starts them @param ready when they can run turns
 */
function startQuarantine(
  answered: string[],
  runIn: string[],
  parent: () => TurnWorker,
  ready: Promise<void> = Promise.resolve(),
): Quarantine {
  const start = (onLeft: (id: string) => void): QuarantineProcess => {
    const name = newWorkerName();
    const ended = new Deferred();
    const worker = fixture.startWorker(
      async (context) => {
        const userId = context.claim.messages[0]?.message.sender.userId ?? '';
        runIn.push(userId);
        if (userId !== 'poison') return answers(answered)(context);
        ended.resolve();
        await untilAborted(context.signal);
        throw new Error('dead');
      },
      { shards: 0, store: storeNamed(name) },
    );
    return {
      ...{ name, ready, ended: ended.promise, kill: () => ended.resolve() },
      run: (conversation) =>
        void worker.runNow(conversation).then(
          () => onLeft(conversation.id),
          () => undefined,
        ),
      stop: () => worker.close(0),
    };
  };
  return new Quarantine({
    start,
    endClaim: ({ partition }, worker) => endClaims(fixture.server.redis, partition, [worker]),
    takeGuilty: (conversation) => parent().runNow(conversation),
    takeBack: (turn) => parent().takeBack(turn),
    wake: (conversation) => fixture.wakeQueue.wake(conversation),
  });
}

const storeNamed = (workerName: string) =>
  new TurnStore({ ...fixture, redis: fixture.server.redis, nowMs: Date.now, historyLifeMs: 60_000, workerName });

test('runs turns with two crashes apart, gives up the one that kills its processes, and answers the others [poison-turns]', async () => {
  const [answered, apologies]: [string[], string[]] = [[], []];
  const runIn: string[] = [];
  for (const userId of ['poison', 'innocent-1', 'innocent-2']) await acceptCrashed(messageOf(userId, 'q'), 2);
  await acceptCrashed(messageOf('unlucky', 'q'), 1);
  const quarantine = startQuarantine(answered, runIn, () => worker);
  const worker: TurnWorker = fixture.startWorker(answers(answered), {
    ...{ quarantine, store: storeNamed(newWorkerName()) },
    apologise: async ({ turnId }) => ({ outcome: 'dead', records: (apologies.push(turnId), []) }),
  });
  await until(async () => (await sweepLater()) === 0);
  // A turn beside the poison may have been answered by its dead process too, which could not commit it.
  await until(() => new Set(answered).size === 3 && apologies.length === 1);
  expect([...new Set(answered)].sort()).toEqual(['innocent-1', 'innocent-2', 'unlucky']);
  expect(runIn).not.toContain('unlucky');
  expect(fixture.reported.filter((line) => line.startsWith('dead'))).toHaveLength(1);
}, 60_000);

test('holds a suspect that waits for its process, so that no other worker takes it into its own quarantine [poison-turns]', async () => {
  const answered: string[] = [];
  const ready = new Deferred();
  await acceptCrashed(messageOf('innocent', 'q'), 2);
  const start = () => {
    const quarantine = startQuarantine(answered, [], () => worker, ready.promise);
    const worker: TurnWorker = fixture.startWorker(answers(answered), {
      ...{ quarantine, store: storeNamed(newWorkerName()) },
    });
  };
  start();
  await sweepLater();
  await until(() => fixture.reported.includes('quarantined 2'));
  start();
  for (let round = 0; round < 3; round += 1) {
    await sweepLater();
    await sleep(100);
  }
  ready.resolve();
  await until(() => answered.length === 1);
  expect(fixture.reported.filter((line) => line.startsWith('quarantined'))).toEqual(['quarantined 2']);
});

/** Redis has run long enough that other workers have had time to connect. */
async function untilSettled(): Promise<void> {
  const upForSec = async () => Number(/uptime_in_seconds:(\d+)/.exec(await fixture.server.redis.info('server'))?.[1]);
  await until(async () => (await upForSec()) >= 5, 10_000);
}

test.each([
  { isBack: true, found: [] },
  { isBack: false, found: ['stalled dead'] },
])(
  'a worker whose stalled connection to Redis is closed has time to reconnect [quick-takeover] ($isBack)',
  async ({ isBack, found }) => {
    const { redis, url } = fixture.server;
    await untilSettled();
    const subscriber = new Redis(url, { retryStrategy: () => null });
    subscriber.on('error', () => undefined);
    const subscriberId = await subscriber.client('ID');
    await subscriber.subscribe('parley:worker:stalled');
    await redis.zadd('{isolation}:workers', Date.now(), 'stalled');
    let [clockMs, readings] = [0, 0];
    const reclaimed: string[] = [];
    const end = keepWorkerPresence({
      ...{ redis, workload, workerName: 'observer' },
      reclaim: async (name, fate) => reclaimed.push(`${name} ${fate}`),
      // Read right before and after each check, whose command follows on the same connection.
      nowMs() {
        readings += 1;
        const check = Math.ceil(readings / 2);
        if (readings === 7) redis.client('KILL', 'ID', subscriberId).catch(() => undefined);
        if (check > 4 && isBack) redis.zadd('{isolation}:workers', Date.now() + readings, 'stalled').catch(() => 0);
        return (clockMs += 700);
      },
    });
    await until(() => readings >= 14 || reclaimed.length > 0, 20_000);
    expect([reclaimed, clockMs >= 4 * 1_400]).toEqual([found, true]);
    await end();
  },
);

test('a worker that has just started takes over from a dead one without waiting [quick-takeover]', async () => {
  const { redis } = fixture.server;
  await untilSettled();
  await redis.zadd('{isolation}:workers', Date.now(), 'dead');
  const reclaimed: string[] = [];
  const presence = { redis, workload, workerName: 'fresh', reclaim: async (name: string) => reclaimed.push(name) };
  const end = keepWorkerPresence({ ...presence, nowMs: monotonicMs });
  await until(() => reclaimed.length === 1);
  expect(reclaimed).toEqual(['dead']);
  await end();
});

test.each([
  { pauseMs: 700, found: ['quiet silent'] },
  // Redis or the observer stalls for 12 s before each of three checks.
  { pauseMs: 12_000, found: [] },
])(
  'takes over from a subscribed worker that does not register for six seconds apart from stalls [quick-takeover] ($pauseMs ms)',
  async ({ pauseMs, found }) => {
    const { redis, url } = fixture.server;
    const connection = connectRedis({ urls: [url] }, 'wait', fixture.log, 'quiet') as Redis;
    await connection.subscribe('parley:worker:quiet');
    await redis.zadd('{isolation}:workers', Date.now(), 'quiet');
    let clockMs = 0;
    const reclaimed: string[] = [];
    const end = keepWorkerPresence({
      // Read before and after each check.
      ...{ redis, workload, workerName: 'observer', nowMs: () => (clockMs += pauseMs) },
      reclaim: async (name, fate) => reclaimed.push(`${name} ${fate}`),
    });
    await until(() => reclaimed.length > 0 || clockMs > 72_000, 20_000);
    expect([reclaimed, clockMs >= 6_000]).toEqual([found, true]);
    await end();
    connection.disconnect();
  },
);

test('a worker without a subscription that still registers is alive [quick-takeover]', async () => {
  const { redis } = fixture.server;
  const found: string[] = [];
  let checks = 0;
  const end = keepWorkerPresence({
    ...{ redis, workload, workerName: 'observer', reclaim: async (name: string) => found.push(name) },
    nowMs() {
      checks += 1;
      redis.zadd('{isolation}:workers', Date.now() + checks, 'alive').catch(() => undefined);
      return monotonicMs();
    },
  });
  await until(() => checks >= 8, 20_000);
  expect(found).toEqual([]);
  await end();
});

test.each(['isolated', 'crashed', 'given back'])(
  'a turn that was %s ages the next question only if nothing failed [poison-turns] [in-order]',
  async (fate) => {
    const said = ['anna', 'ben'].map((userId) =>
      textMessage('q', { chat: { kind: 'group', id: 'wrgroup' }, sender: { userId } }),
    );
    const group = conversationOf(said[0]!, 'group');
    const begin = async () => (await fixture.store.begin(group))!;
    for (const message of said) await fixture.inbox.accept(group, message);
    const first = await begin();
    if (fate === 'isolated') await fixture.store.isolate(first);
    if (fate === 'given back') await fixture.store.giveBack(first, 0);
    await ageMessages(fixture.server.redis, 11 * MINUTE_MS);
    const again = await begin();
    expect(again.crashes).toBe(fate === 'crashed' ? 1 : 0);
    await fixture.store.commit(again, { outcome: 'final', records: [] });
    const next = await begin();
    expect(next.newestAgeMs).toBeGreaterThanOrEqual(11 * MINUTE_MS);
    expect(next.chargedAgeMs >= 11 * MINUTE_MS).toBe(fate === 'given back');
  },
);

test('a worker whose conversation was taken over learns of it at its next renewal and commits nothing [fence]', async () => {
  const reasons: unknown[] = [];
  const worker = fixture.startWorker(async ({ signal }) => {
    await untilAborted(signal);
    reasons.push(signal.reason);
    return { outcome: 'final', records: [], history: { append: 'from the old worker' } };
  });
  const message = textMessage('q');
  await fixture.send(message);
  await until(() => worker.runningTurns === 1);
  const taken = await fixture.store.begin(conversationFor(message));
  await until(() => reasons.length === 1);
  expect(reasons).toEqual(['fenced']);
  await until(() => fixture.reported.includes('fenced'));
  expect(taken && (await fixture.store.commit(taken, { outcome: 'final', records: [] }))).toBe(0);
  await fixture.send(textMessage('what was said?'));
  expect((await fixture.store.begin(conversationFor(message)))?.history).toEqual([]);
});

test('a claim is uncertain from the loss of the connection until a renewal succeeds [fence]', async () => {
  const redis = connectRedis({ urls: [fixture.server.url] }, 'wait', log, 'worker') as Redis;
  const held: boolean[] = [];
  const worker = fixture.startWorker(
    async ({ isClaimHeld }) => {
      held.push(isClaimHeld());
      await fixture.server.redis.client('KILL', 'ID', await redis.client('ID'));
      await until(() => redis.status !== 'ready');
      held.push(isClaimHeld());
      await until(isClaimHeld);
      return { outcome: 'final', records: [] };
    },
    { redis },
  );
  await fixture.send(textMessage('q'));
  await until(() => held.length === 2 && worker.runningTurns === 0, 10_000);
  expect(held).toEqual([true, false]);
  redis.disconnect();
});

test('a turn learns of a takeover by its own write [fence]', async () => {
  const allowed: boolean[] = [];
  const message = textMessage('q');
  fixture.startWorker(async ({ storeAnswer, signal }) => {
    allowed.push(await storeAnswer('whole'));
    await fixture.store.begin(conversationFor(message));
    allowed.push(await storeAnswer('whole'));
    expect(signal.reason).toBe('fenced');
    return { outcome: 'final', records: [] };
  });
  await fixture.send(message);
  await until(() => allowed.length === 2 && fixture.reported.includes('fenced'));
  expect(allowed).toEqual([true, false]);
});

test('a message that arrives while a turn runs is answered after it without another wake [in-order]', async () => {
  const seen: string[] = [];
  const worker = fixture.startWorker(async ({ claim }) => {
    if (seen.length === 0) await sleep(150);
    seen.push(claim.messages.map(({ message }) => JSON.stringify(message.parts)).join());
    return { outcome: 'final', records: [] };
  });
  await fixture.send(textMessage('one'));
  await until(() => worker.runningTurns === 1);
  // Accepted by a receiver that dies before it enqueues a wake.
  await fixture.inbox.accept(conversationFor(textMessage('x')), textMessage('two'));
  await until(() => seen.length === 2);
  expect(seen[0]).toContain('one');
  expect(seen[1]).toContain('two');
});

test('a stopping worker returns its turns at once and is not ready meanwhile [orderly-stop]', async () => {
  const worker = fixture.startWorker(async ({ signal }) => {
    await untilAborted(signal);
    throw new Error('ended early');
  });
  await fixture.send(textMessage('q'));
  await until(() => worker.runningTurns === 1);
  expect(worker.isReady()).toBe(true);
  const closing = worker.close(0);
  expect(worker.isReady()).toBe(false);
  await closing;
  const answered: string[] = [];
  const startedMs = Date.now();
  fixture.startWorker(answers(answered));
  await until(() => answered.length === 1);
  // The turn was given back, not found stalled after the 10 s of its lock.
  expect(Date.now() - startedMs).toBeLessThan(9_000);
  expect(fixture.reported).toEqual([]);
});

test('a turn whose wake was fetched right before a stop without grace period is returned too [orderly-stop]', async () => {
  const slow = await startTcpProxy(Number(new URL(fixture.server.url).port));
  slow.breakWith({ kind: 'delay', delayMs: 200 });
  const redis = connectRedis({ urls: [`redis://127.0.0.1:${slow.port}`] }, 'wait', log, 'slow');
  const reasons: unknown[] = [];
  try {
    const runTurn: RunTurn = async ({ signal }) => {
      await Promise.race([untilAborted(signal), sleep(1_000)]);
      reasons.push(signal.reason);
      signal.throwIfAborted();
      return { outcome: 'final', records: [] };
    };
    const options = { keyRing: testKeyRing(), nowMs: Date.now, historyLifeMs: 60_000 };
    const inbox = new Inbox({ ...options, redis: fixture.server.redis, limits: { personPerMinute: 10 } });
    const worker = fixture.startWorker(runTurn, { store: new TurnStore({ ...options, redis }) });
    const message = textMessage('q');
    await inbox.accept(conversationFor(message), message);
    await fixture.wakeQueue.wake(conversationFor(message));
    await until(async () => (await fixture.server.redis.llen('{wake0}:turns:active')) === 1);
    expect(worker.runningTurns).toBe(0);
    await worker.close(0);
    expect(reasons).toEqual(['shutdown']);
    expect(await fixture.server.redis.llen(conversationKeys(conversationFor(message)).inbox)).toBe(1);
  } finally {
    redis.disconnect();
    await slow.close();
  }
});

test('the first turn of a backlog begins before the other wakes are fetched', async () => {
  const slow = await startTcpProxy(Number(new URL(fixture.server.url).port));
  slow.breakWith({ kind: 'delay', delayMs: 20 });
  const redis = connectRedis({ urls: [`redis://127.0.0.1:${slow.port}`] }, 'wait', log, 'slow');
  const fetched: Promise<number>[] = [];
  try {
    const people = Array.from({ length: 40 }, (_, index) => messageOf(`p${index}`, 'q'));
    for (const message of people) await fixture.send(message);
    const runTurn: RunTurn = async () => {
      fetched.push(fixture.server.redis.llen('{wake0}:turns:active'));
      return { outcome: 'final', records: [] };
    };
    fixture.startWorker(runTurn, { redis, concurrency: 40 });
    await until(() => fetched.length === 40);
    expect(await fetched[0]).toBeLessThan(20);
  } finally {
    redis.disconnect();
    await slow.close();
  }
});

test('a wake of an unknown version is left alone, and its conversation is woken in a known way [versioned-payloads]', async () => {
  const answered: string[] = [];
  const message = textMessage('q');
  await fixture.inbox.accept(conversationFor(message), message);
  const { Queue } = await import('bullmq');
  const queue = new Queue('turns', { connection: { url: fixture.server.url }, prefix: '{wake0}' });
  await queue.add('wake', { version: 2, place: 'elsewhere' }, { removeOnComplete: true });
  fixture.startWorker(answers(answered));
  await until(() => fixture.reported.includes('newer wake'));
  await queue.close();
  expect(fixture.reported).not.toContain('run failed');
  await sweepLater();
  await until(() => answered.length === 1);
});

test('a conversation that waits for a newer worker neither holds up others nor fails a run [versioned-payloads]', async () => {
  const answered: string[] = [];
  const newer = { ...messageOf('early', 'q'), version: 2 as unknown as 1 };
  fixture.startWorker(answers(answered));
  await fixture.send(newer);
  await fixture.send(messageOf('bob', 'q'));
  await until(() => answered.length === 1 && fixture.reported.includes('newer message'));
  expect(answered).toEqual(['bob']);
  expect(fixture.reported).not.toContain('run failed');
});

test('an orderly stop ends the turns of every shard, although their jobs have the same ids', async () => {
  const reasons: unknown[] = [];
  const { redis } = fixture.server;
  const wakeQueue = new WakeQueue(redis, 2, log);
  const worker = fixture.startWorker(
    async ({ signal }) => {
      await Promise.race([untilAborted(signal), sleep(8_000)]);
      reasons.push(signal.reason);
      signal.throwIfAborted();
      return { outcome: 'final', records: [] };
    },
    { shards: 2, wakeQueue },
  );
  const shardOf = (message: InboundMessage) => Number.parseInt(conversationFor(message).id.slice(0, 8), 16) % 2;
  const people = Array.from({ length: 40 }, (_, index) => messageOf(`p${index}`, 'q'));
  const oneOfEach = [0, 1].map((shard) => people.find((message) => shardOf(message) === shard)!);
  for (const message of oneOfEach) {
    await fixture.inbox.accept(conversationFor(message), message);
    await wakeQueue.wake(conversationFor(message));
  }
  await until(() => worker.runningTurns === 2);
  await worker.close(0);
  expect(reasons).toEqual(['shutdown', 'shutdown']);
  await wakeQueue.close();
});

test('a second wake for a turn running in this worker renews its expired claim and begins nothing', async () => {
  const { redis } = fixture.server;
  const runs: string[] = [];
  let isEnding = false;
  const worker = fixture.startWorker(
    async ({ claim, signal }) => {
      runs.push(claim.turnId);
      await until(() => isEnding || signal.aborted);
      signal.throwIfAborted();
      return { outcome: 'final', records: [] };
    },
    { shards: 2 },
  );
  // The conversation is in the second of two shards, so a wake from a queue with one shard arrives through the other.
  const message = Array.from({ length: 40 }, (_, index) => messageOf(`p${index}`, 'q')).find(
    (one) => Number.parseInt(conversationFor(one).id.slice(0, 8), 16) % 2 === 1,
  )!;
  const wide = new WakeQueue(redis, 2, log);
  await fixture.inbox.accept(conversationFor(message), message);
  await wide.wake(conversationFor(message));
  await until(() => worker.runningTurns === 1);
  const { state } = conversationKeys(conversationFor(message));
  await redis.hset(state, 'aliveMs', 1);
  await fixture.wakeQueue.wake(conversationFor(message));
  await until(async () => Number(await redis.hget(state, 'aliveMs')) > 1);
  isEnding = true;
  await until(() => worker.runningTurns === 0);
  expect(runs).toHaveLength(1);
  expect(fixture.reported).toEqual([]);
  await wide.close();
});
