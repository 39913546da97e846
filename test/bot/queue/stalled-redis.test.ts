import { afterAll, expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { startTcpProxy, type TcpProxy } from '../../support/tcp-proxy.ts';
import { SECOND_MS } from '../../../src/shared/clock.ts';
import { conversationKeys } from '../../../src/bot/domain/partition-keys.ts';
import { connectRedis, type RedisClient } from '../../../src/shared/redis/redis.ts';
import { conversationOf } from '../../../src/bot/domain/conversation.ts';
import type { RunTurn } from '../../../src/bot/queue/turn-worker.ts';
import { TurnStore } from '../../../src/bot/queue/turn-store.ts';
import { WakeQueue } from '../../../src/bot/queue/wake-queue.ts';
import { recordingLog } from '../../support/redis.ts';
import { messageOf, until, useWorkerFixture } from './worker-fixture.ts';

const { log } = recordingLog();
const fixture = useWorkerFixture();
const links: TcpProxy[] = [];
const connections: RedisClient[] = [];
const PEOPLE = Array.from({ length: 10 }, (_, index) => `person-${index}`);

afterAll(async () => {
  for (const connection of connections) connection.disconnect();
  await Promise.all(links.map((link) => link.close()));
});

/** Workers that each reach Redis over their own link, with answers that end when `end` is called. */
async function startStallableWorkers(workers: number) {
  const runs: string[] = [];
  const whole: string[] = [];
  let isEnding = false;
  const runTurn: RunTurn = async ({ claim, signal }) => {
    const person = claim.messages[0]?.message.sender.userId ?? '';
    runs.push(person);
    await until(() => isEnding || signal.aborted, 120 * SECOND_MS);
    signal.throwIfAborted();
    whole.push(person);
    return { outcome: 'final', records: [] };
  };
  for (let index = 0; index < workers; index += 1) {
    const link = await startTcpProxy(Number(new URL(fixture.server.url).port));
    links.push(link);
    const redis = connectRedis({ urls: [`redis://127.0.0.1:${link.port}`] }, 'wait', log, 'worker');
    connections.push(redis);
    const store = new TurnStore({ redis, keyRing: fixture.keyRing, nowMs: () => Date.now(), historyLifeMs: 60_000 });
    fixture.startWorker(runTurn, { redis, store, wakeQueue: new WakeQueue(redis, 1, log) });
  }
  return { runs, whole, end: () => (isEnding = true) };
}

/** Holds all traffic between the workers and Redis for a while without breaking connections. */
async function stall(forMs: number): Promise<void> {
  for (const link of links) link.breakWith({ kind: 'hold', heals: true });
  await sleep(forMs);
  for (const link of links) link.mend();
}

/** @param stallsMs the length of each stall; Redis is reachable for a while after each */
async function answerThroughStalls(stallsMs: number[]): Promise<void> {
  const { runs, whole, end } = await startStallableWorkers(2);
  for (const person of PEOPLE) await fixture.send(messageOf(person, 'a long question'));
  await until(() => runs.length === PEOPLE.length);
  for (const stallMs of stallsMs) {
    await stall(stallMs);
    // Long enough for two scans for expired locks.
    await sleep(6 * SECOND_MS);
  }
  end();
  await until(() => whole.length >= PEOPLE.length, 30 * SECOND_MS);
  expect(runs.sort()).toEqual([...PEOPLE].sort());
  expect(whole.sort()).toEqual([...PEOPLE].sort());
  expect(fixture.reported.filter((what) => /resumed|dead/.test(what))).toEqual([]);
  for (const person of PEOPLE) {
    const { inbox } = conversationKeys(conversationOf(messageOf(person, ''), 'member'));
    await until(async () => (await fixture.server.redis.llen(inbox)) === 0);
  }
}

test('answers survive a Redis stall longer than their locks: each runs once and no crash is counted', async () => {
  await answerThroughStalls([12 * SECOND_MS]);
}, 60_000);

test('a worker confirms its claim once Redis answers again, but not a claim that it has lost [fence]', async () => {
  const link = await startTcpProxy(Number(new URL(fixture.server.url).port));
  links.push(link);
  const redis = connectRedis({ urls: [`redis://127.0.0.1:${link.port}`] }, 'wait', log, 'worker');
  connections.push(redis);
  const store = new TurnStore({ redis, keyRing: fixture.keyRing, nowMs: () => Date.now(), historyLifeMs: 60_000 });
  const seen: string[] = [];
  let isOver = false;
  const runTurn: RunTurn = async ({ claim, signal, confirmClaim, isClaimHeld }) => {
    const person = claim.messages[0]?.message.sender.userId ?? '';
    if (confirmClaim() === undefined) seen.push(`${person} is held`);
    await until(() => !isClaimHeld());
    const confirming = confirmClaim()?.then(() => seen.push(`${person} ${signal.aborted ? 'aborted' : 'confirmed'}`));
    seen.push(confirming ? `${person} waits` : `${person} does not wait`);
    await confirming;
    if (!signal.aborted && confirmClaim() === undefined) seen.push(`${person} is held again`);
    await until(() => isOver);
    return { outcome: 'final', records: [] };
  };
  fixture.startWorker(runTurn, { redis, store, wakeQueue: new WakeQueue(redis, 1, log) });
  const [kept, lost] = [messageOf('kept', 'q'), messageOf('lost', 'q')];
  for (const message of [kept, lost]) await fixture.send(message);
  await until(() => seen.length === 2);
  link.breakWith({ kind: 'hold', heals: true });
  await until(() => seen.length === 4);
  expect([...seen].sort()).toEqual(['kept is held', 'kept waits', 'lost is held', 'lost waits']);
  await fixture.store.begin(conversationOf(lost, 'member'));
  link.mend();
  await until(() => seen.length === 7);
  expect(seen.slice(4).sort()).toEqual(['kept confirmed', 'kept is held again', 'lost aborted']);
  isOver = true;
}, 60_000);

test('answers survive a wall clock set back by a minute: each runs once', async () => {
  const { runs, whole, end } = await startStallableWorkers(1);
  const now = Date.now;
  try {
    for (const person of PEOPLE) await fixture.send(messageOf(person, 'a long question'));
    await until(() => runs.length === PEOPLE.length);
    Date.now = () => now() - 60 * SECOND_MS;
    // Longer than an unrenewed lock and two scans for it.
    await sleep(16 * SECOND_MS);
    end();
    await until(() => whole.length >= PEOPLE.length, 30 * SECOND_MS);
  } finally {
    Date.now = now;
  }
  expect(runs).toHaveLength(PEOPLE.length);
  expect(fixture.reported.filter((what) => /resumed|dead|stalled/.test(what))).toEqual([]);
}, 60_000);
