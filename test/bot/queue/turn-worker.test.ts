import { expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { connectRedis } from '../../../src/shared/redis/redis.ts';
import { conversationOf } from '../../../src/bot/domain/conversation.ts';
import { Sweeper, SWEEP_AFTER_MS } from '../../../src/bot/queue/sweeper.ts';
import type { RunTurn } from '../../../src/bot/queue/turn-worker.ts';
import { ageMessages } from '../../support/age-messages.ts';
import { textMessage } from '../../support/messages.ts';
import { startTcpProxy } from '../../support/tcp-proxy.ts';
import { until, useWorkerFixture } from './worker-fixture.ts';

const fixture = useWorkerFixture();

test('several workers answer each conversation one turn at a time and in order', async () => {
  const seen = new Map<string, string[]>();
  const running = new Set<string>();
  let overlaps = 0;
  const runTurn: RunTurn = async ({ claim }) => {
    const { id } = claim.conversation;
    if (running.has(id)) overlaps += 1;
    running.add(id);
    await sleep(Math.random() * 4);
    seen.set(id, [...(seen.get(id) ?? []), ...claim.messages.map(({ message }) => message.messageId)]);
    running.delete(id);
    return { outcome: 'final', records: [] };
  };
  for (let count = 0; count < 3; count += 1) fixture.startWorker(runTurn);
  const sent = new Map<string, string[]>();
  for (let round = 0; round < 20; round += 1) {
    await Promise.all(
      Array.from({ length: 8 }, async (_, person) => {
        const userId = `person-${person}`;
        const message = textMessage('/help', { sender: { userId }, chat: { kind: 'private', id: userId } });
        const { id } = conversationOf(message, 'member');
        sent.set(id, [...(sent.get(id) ?? []), message.messageId]);
        await fixture.send(message);
      }),
    );
  }
  await until(() => [...seen.values()].flat().length === 160);
  expect(overlaps).toBe(0);
  expect(seen).toEqual(sent);
});

test('the fetches of a backlog do not wait for each other', async () => {
  const link = await startTcpProxy(Number(new URL(fixture.server.url).port));
  const far = connectRedis({ urls: [`redis://127.0.0.1:${link.port}`] }, 'wait', fixture.log, 'worker');
  const people = Array.from({ length: 64 }, (_, person) => `person-${person}`);
  for (const id of people)
    await fixture.send(textMessage('hello', { sender: { userId: id }, chat: { kind: 'private', id } }));
  let begun = 0;
  let fetched = 0;
  const runTurn: RunTurn = async () => {
    begun += 1;
    if (begun === 10) {
      link.breakWith({ kind: 'hold', way: 'back', heals: true });
      fetched = await fixture.server.redis.llen('{wake0}:turns:active');
      link.mend();
    }
    return { outcome: 'final', records: [] };
  };
  const worker = fixture.startWorker(runTurn, { redis: far, concurrency: 64 });
  await until(() => begun === people.length);
  // 1, 1, 2, 4 and 8; one by one, about ten.
  expect(fetched).toBeGreaterThanOrEqual(16);
  await worker.close(0);
  far.disconnect();
  await link.close();
});

test('a stop word accepted elsewhere aborts the running turn, and the stop’s own turn sees it as served', async () => {
  const servedAtStop: boolean[] = [];
  const runTurn: RunTurn = async ({ claim, signal }) => {
    const own = claim.messages[0];
    if (own?.message.slash?.word === 'stop') {
      servedAtStop.push(claim.stop.servedSeq >= own.seq);
      return { outcome: 'final', records: [] };
    }
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    return { outcome: 'final', records: [], stopServed: claim.stop.seq };
  };
  const worker = fixture.startWorker(runTurn);
  await fixture.send(textMessage('a long question'));
  await until(() => worker.runningTurns === 1);
  const startedMs = Date.now();
  await fixture.send(textMessage('/stop'));
  await until(() => servedAtStop.length === 1);
  expect(servedAtStop).toEqual([true]);
  expect(Date.now() - startedMs).toBeLessThan(2_000);
});

test('a person cannot stop another person’s question in a shared group conversation', async () => {
  const aborted: boolean[] = [];
  const chat = { kind: 'group', id: 'g' } as const;
  const runTurn: RunTurn = async ({ claim, signal }) => {
    if (!claim.messages[0]?.message.slash) {
      await sleep(150);
      aborted.push(signal.aborted);
    }
    return { outcome: 'final', records: [] };
  };
  const worker = fixture.startWorker(runTurn);
  for (const [userId, text] of [
    ['alice', 'a question'],
    ['bob', '/stop'],
  ] as const) {
    const message = textMessage(text, { chat, sender: { userId } });
    const conversation = conversationOf(message, 'group');
    await fixture.inbox.accept(conversation, message);
    await fixture.wakeQueue.wake(conversation);
    await until(() => worker.runningTurns === 1);
  }
  await until(() => aborted.length === 1);
  expect(aborted).toEqual([false]);
});

test('the sweeper wakes a message whose wake was lost [accept-once]', async () => {
  const answered: string[] = [];
  fixture.startWorker(async ({ claim }) => {
    answered.push(claim.turnId);
    return { outcome: 'final', records: [] };
  });
  const message = textMessage('unwoken');
  await fixture.inbox.accept(conversationOf(message, 'member'), message);
  const sweeper = new Sweeper({ ...fixture, redis: fixture.server.redis });
  expect(await sweeper.sweep()).toBe(0);
  await ageMessages(fixture.server.redis, SWEEP_AFTER_MS);
  expect(await sweeper.sweep()).toBe(1);
  await until(() => answered.length === 1);
});

test('an orderly stop lets turns finish within the grace period and returns the others to another worker [orderly-stop]', async () => {
  const ended: string[] = [];
  const runTurn =
    (name: string, lastsMs: number): RunTurn =>
    async ({ signal }) => {
      await sleep(lastsMs, undefined, { signal });
      ended.push(name);
      return { outcome: 'final', records: [] };
    };
  const first = fixture.startWorker(runTurn('first', 60_000));
  await fixture.send(textMessage('q'));
  await until(() => first.runningTurns === 1);
  await first.close(50);
  expect(ended).toEqual([]);
  fixture.startWorker(runTurn('second', 1));
  await until(() => ended.length === 1);
  expect(ended).toEqual(['second']);
  expect(fixture.reported).not.toContain('resumed 1');
});

test('an unexpected error returns the turn, and a later wake answers it', async () => {
  let tries = 0;
  fixture.startWorker(async () => {
    tries += 1;
    if (tries === 1) throw new Error('not expected');
    return { outcome: 'final', records: [] };
  });
  const message = textMessage('q');
  await fixture.send(message);
  await until(() => fixture.reported.includes('run failed'));
  await fixture.wakeQueue.wake(conversationOf(message, 'member'));
  await until(() => tries === 2);
});
