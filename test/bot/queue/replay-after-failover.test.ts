import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { connectRedis, type RedisClient } from '../../../src/shared/redis/redis.ts';
import { conversationKeys, messageKey } from '../../../src/bot/domain/partition-keys.ts';
import { MIB_BYTES, MINUTE_MS, SECOND_MS } from '../../../src/shared/clock.ts';
import { conversationOf } from '../../../src/bot/domain/conversation.ts';
import type { InboundMessage } from '../../../src/bot/domain/message.ts';
import { asDeliveryId, type DeliveryId } from '../../../src/bot/domain/ids.ts';
import { Inbox } from '../../../src/bot/queue/accept.ts';
import { stopAppliesTo } from '../../../src/bot/queue/stop-mark.ts';
import { replayAfterFailover } from '../../../src/bot/queue/replay-after-failover.ts';
import { ReplayBuffer } from '../../../src/bot/queue/replay-buffer.ts';
import { createPostLedger } from '../../../src/bot/reply/post-ledger.ts';
import { WakeQueue } from '../../../src/bot/queue/wake-queue.ts';
import { testKeyRing, textMessage } from '../../support/messages.ts';
import { recordingLog, startTestRedis, type TestRedis } from '../../support/redis.ts';
import { untilTrue } from '../../support/deployment.ts';
import { useWorkerFixture } from './worker-fixture.ts';
import { DyingWorkersStore } from '../../support/dying-workers.ts';

const fixture = useWorkerFixture();
const { log } = recordingLog();
const keyRing = testKeyRing();

/** Adds to the age of the remembered messages. */
let rememberedMs = 0;
/** Receivers know a history for a second. */
let histories = 0;
const knownMs = () => histories * SECOND_MS;
let memory: ReplayBuffer;
const nowMs = () => 1_800_000_000_000;
const alice = conversationOf(textMessage('x'), 'member');
const keys = conversationKeys(alice);

let server: TestRedis;
let redis: RedisClient;
let inbox: Inbox;
let endWatch: () => void;
let wakeQueue: WakeQueue;
beforeEach(async () => {
  server = await startTestRedis({ extraArguments: ['--enable-debug-command', 'yes'] });
  redis = connectRedis({ urls: [server.url] }, 'fail-fast', log, 'receiver');

  rememberedMs = 0;
  const recent = new ReplayBuffer({
    nowMs: () => performance.now() + rememberedMs,
    onReducedToId: () => fixture.report.messageReducedToId(),
  });
  inbox = new Inbox({ redis, keyRing, recent, nowMs: knownMs });
  wakeQueue = new WakeQueue(redis, 1, log);
  memory = recent;
  endWatch = replayAfterFailover({ redis, inbox, recent, wakeQueue, log, report: fixture.report, forgetEveryMs: 20 });
  await untilTrue(() => redis.status === 'ready');
});
afterEach(async () => {
  endWatch();
  await wakeQueue.close();
  redis.disconnect();
  await server.stop();
});

async function acceptAll(messages: InboundMessage[]): Promise<DeliveryId[]> {
  const ids: DeliveryId[] = [];
  for (const message of messages) {
    const { deliveryId, result } = await inbox.accept(alice, message);
    expect(result).toBe('new');
    ids.push(deliveryId);
  }
  return ids;
}
/** A buffer entry of an accepted message. */
const asKept = (index: number) => ({
  ...{ deliveryId: asDeliveryId(`${index}`), conversation: alice, takenAtMs: 1 },
  keys: { record: 'k', inbox: 'k', state: 'k', pending: 'k', personRate: 'k' },
  args: {
    deliveryId: 'a',
    conversationId: 'b',
    owner: 'c',
    mergeKey: 'd',
    sealed: 'e',
    command: '',
    isAnswerableLater: true,
    isOverLimit: false,
    opener: '',
    target: '',
  },
});
/** Breaks the receiver's connection. @returns once the connection is ready again */
async function reconnect(): Promise<void> {
  const isBack = new Promise<void>((resolve) => void redis.once('ready', () => resolve()));
  await server.redis.call('CLIENT', 'KILL', 'TYPE', 'normal');
  await isBack;
}
/** Messages accepted after this have a later timestamp. */
const nextMs = () => new Promise((resolve) => setTimeout(resolve, 5));
/** Simulates a failover to a Redis that had replicated nothing. */
async function loseAll(): Promise<void> {
  await server.redis.flushall();
  await changeHistory();
}
async function changeHistory(): Promise<void> {
  await server.redis.call('DEBUG', 'CHANGE-REPL-ID');
  histories += 1;
}
const waitingTexts = async () => {
  const claim = await new DyingWorkersStore({ redis: server.redis, keyRing, nowMs, historyLifeMs: MINUTE_MS }).begin(
    alice,
  );
  return claim?.messages.map(({ message }) => message.parts);
};

test('lost messages are stored again once and in order, regardless of rate limits [failover]', async () => {
  const messages = Array.from({ length: 19 }, (_, index) => textMessage(`q${index}`));
  const ids = await acceptAll(messages);
  const before = await server.redis.lrange(keys.inbox, 0, -1);
  await loseAll();
  await nextMs();
  // The person has reached the limit of messages per minute by now.
  for (const said of ['a', 'b', 'c'])
    await new Inbox({ redis: server.redis, keyRing }).accept(alice, textMessage(said));
  await reconnect();
  await untilTrue(() => fixture.reported.length === 19);
  expect(fixture.reported).toEqual(Array(19).fill('recovered'));
  const after = (await server.redis.lrange(keys.inbox, 0, -1)).slice(0, 19);
  const idOf = (entry: string) => entry.split(':')[0];
  expect(after.map(idOf)).toEqual(ids);
  // With their original timestamps, so that a question that is too old is not answered unexpectedly.
  const stampOf = (entry = '') => Number(entry.split(':')[2]);
  expect(after.map(stampOf)).toEqual(before.map(stampOf));
  expect(await wakeQueue.waiting()).toBe(1);
  // After the next reconnection all of them are found.
  await changeHistory();
  await reconnect();
  await inbox.accept(alice, textMessage('later')).catch(() => undefined);
  expect(await server.redis.llen(keys.inbox)).toBe(22);
  expect(await waitingTexts()).toEqual([[{ type: 'text', text: 'q0' }]]);
}, 60_000);

test('a replayed message becomes its own turn, ordered by time, whichever receiver replays it and whatever turn is running [failover]', async () => {
  const kept: ReplayBuffer[] = [];
  const second = new ReplayBuffer();
  const other = new Inbox({ redis: server.redis, keyRing, recent: second, nowMs: knownMs });
  kept.push(memory, second);
  for (const [index, text] of ['one', 'two', 'three', 'four'].entries()) {
    await (index % 2 === 0 ? inbox : other).accept(alice, textMessage(text));
    await nextMs();
  }
  endWatch();
  await loseAll();
  await nextMs();
  const store = new DyingWorkersStore({ redis: server.redis, keyRing, nowMs, historyLifeMs: MINUTE_MS });
  for (const text of ['five', 'six']) await other.accept(alice, textMessage(text));
  const running = await store.begin(alice);
  for (const recent of kept.reverse()) for (const message of recent.all().whole) await inbox.reaccept(message);
  expect(running?.messages).toHaveLength(2);
  if (running) await store.commit(running, { outcome: 'final', records: [] });
  const turns: string[][] = [];
  for (let claim = await store.begin(alice); claim; claim = await store.begin(alice)) {
    expect(claim.mayBeAnswered).toBe(true);
    turns.push(claim.messages.map(({ message: { parts } }) => (parts[0]?.type === 'text' ? parts[0].text : '')));
    await store.commit(claim, { outcome: 'final', records: [] });
  }
  expect(turns).toEqual([['one'], ['two'], ['three'], ['four']]);
}, 60_000);

test('messages stored under a former Redis history are merged neither with each other nor with new ones [failover]', async () => {
  endWatch();
  await acceptAll([textMessage('old'), textMessage('old too')]);
  await changeHistory();
  await acceptAll([textMessage('new'), textMessage('new too')]);
  const store = new DyingWorkersStore({ redis: server.redis, keyRing, nowMs, historyLifeMs: MINUTE_MS });
  const sizes: [number, boolean, number][] = [];
  for (let claim = await store.begin(alice); claim; claim = await store.begin(alice)) {
    sizes.push([claim.messages.length, claim.mayBeAnswered, claim.behind.length]);
    await store.commit(claim, { outcome: 'final', records: [] });
  }
  expect(sizes).toEqual([
    [1, true, 3],
    [1, true, 2],
    [2, false, 0],
  ]);
}, 60_000);

test('a replayed stop word ends earlier questions but no later ones [failover]', async () => {
  await acceptAll([textMessage('before'), textMessage('/stop')]);
  await loseAll();
  await nextMs();
  await new Inbox({ redis: server.redis, keyRing }).accept(alice, textMessage('since'));
  await reconnect();
  await untilTrue(() => fixture.reported.length === 2);
  const store = new DyingWorkersStore({ redis: server.redis, keyRing, nowMs, historyLifeMs: MINUTE_MS });
  const stopped: Record<string, boolean> = {};
  for (let claim = await store.begin(alice); claim; claim = await store.begin(alice)) {
    stopped[JSON.stringify(claim.messages.map(({ message }) => message.parts))] = stopAppliesTo(
      claim.stop,
      claim.messages,
    );
    await store.commit(claim, { outcome: 'final', records: [] });
  }
  const said = (text: string) => JSON.stringify([[{ type: 'text', text }]]);
  expect(stopped).toMatchObject({ [said('before')]: true, [said('since')]: false });
}, 60_000);

test('a message whose answer its sender has seen is not replayed, unless it is a command with an effect [failover]', async () => {
  const ids = await acceptAll([textMessage('seen'), textMessage('/forget'), textMessage('not seen')]);
  for (const id of ids.slice(0, 2)) inbox.markAnswerSeen(id);
  inbox.markAnswerSeen(asDeliveryId('of-another-receiver'));
  expect(memory.all().whole.map(({ deliveryId }) => deliveryId)).toEqual(ids.slice(1));
  rememberedMs = 2 * MINUTE_MS;
  expect([...memory.olderByPartition().values()]).toEqual([ids.slice(1)]);
  inbox.markAnswerSeen(ids[2] ?? asDeliveryId(''));
  expect(memory.all().whole.map(({ deliveryId }) => deliveryId)).toEqual(ids.slice(1, 2));
});

test('a message whose storing was retried is remembered as well [failover]', async () => {
  const message = textMessage('q');
  await new Inbox({ redis: server.redis, keyRing }).accept(alice, message);
  expect((await inbox.accept(alice, message)).result).toBe('repeat');
  expect(memory.all().whole).toHaveLength(1);
});

test('nothing is replayed after a reconnection to the same data [failover]', async () => {
  const [id = asDeliveryId('')] = await acceptAll([textMessage('q')]);
  // A replay would store it again.
  await server.redis.del(keys.inbox, messageKey(alice.partition, id));
  await reconnect();
  await inbox.accept(alice, textMessage('next'));
  expect(fixture.reported).toEqual([]);
  expect(await server.redis.llen(keys.inbox)).toBe(1);
}, 60_000);

test('messages too large to be kept whole are reported as lost by id, and all others are recovered [failover]', async () => {
  const big = 'x'.repeat(1.5 * MIB_BYTES);
  await acceptAll(Array.from({ length: 10 }, () => textMessage(big)));
  await loseAll();
  const kept = fixture.reported.splice(0).filter((what) => what === 'kept bare');
  expect(kept).toHaveLength(3);
  await reconnect();
  await untilTrue(() => fixture.reported.length === 10);
  const lost = fixture.reported.filter((what) => what === 'lost').length;
  // Encrypted, each message is a third larger: 2 MiB.
  expect(lost).toBe(3);
  expect(await server.redis.llen(keys.inbox)).toBe(7);
}, 60_000);

test('messages are recovered and woken although the responses to storing them come too late [failover]', async () => {
  const messages = Array.from({ length: 10 }, (_, index) => textMessage(`q${index}`.padEnd(MIB_BYTES, 'x')));
  await acceptAll(messages);
  await loseAll();
  await reconnect();
  await untilTrue(() => fixture.reported.includes('recovered'));
  // Redis stores the next message after this process has stopped waiting for its response.
  process.kill(server.pid, 'SIGSTOP');
  await new Promise((resolve) => setTimeout(resolve, 2_500));
  process.kill(server.pid, 'SIGCONT');
  await untilTrue(() => fixture.reported.filter((what) => what === 'recovered').length === 10);
  expect(await server.redis.llen(keys.inbox)).toBe(10);
  expect(await wakeQueue.waiting()).toBe(1);
}, 60_000);

test('a worker whose epoch a failover lost is refused, although the next claim counts from an older epoch [failover]', async () => {
  await acceptAll([textMessage('q')]);
  const store = new DyingWorkersStore({ redis: server.redis, keyRing, nowMs, historyLifeMs: MINUTE_MS });
  const first = await store.begin(alice);
  // The replica had not received the claim yet.
  await server.redis.hdel(keys.state, 'epoch', 'claim', 'running');
  const second = await store.begin(alice);
  if (!first || !second) throw new Error('nothing waits');
  expect(await store.renew(first)).toBeUndefined();
  expect(await store.storeAnswer(first, 'of the old one')).toBe(false);
  expect(await store.renew(second)).toBeDefined();
});

test('a message is remembered as long as it waits, and no longer once it is answered [failover]', async () => {
  await acceptAll([textMessage('answered'), textMessage('/forget'), textMessage('waits'), textMessage('waits too')]);
  const store = new DyingWorkersStore({ redis: server.redis, keyRing, nowMs, historyLifeMs: MINUTE_MS });
  for (let turn = 0; turn < 2; turn += 1) {
    const claim = await store.begin(alice);
    if (claim) await store.commit(claim, { outcome: 'final', records: [] });
  }
  expect(memory.all().whole).toHaveLength(4);
  rememberedMs = 5 * MINUTE_MS;
  // The effect of a command such as /forget is visible in no answer, so the command is kept although it is answered.
  await untilTrue(() => memory.all().whole.length === 3);
  rememberedMs = 70 * MINUTE_MS;
  await untilTrue(() => memory.all().whole.length === 2);
  await loseAll();
  await reconnect();
  await untilTrue(() => fixture.reported.length === 2);
  expect(fixture.reported).toEqual(['recovered', 'recovered']);
  expect(await waitingTexts()).toEqual([[{ type: 'text', text: 'waits' }]]);
  expect(await server.redis.llen(keys.inbox)).toBe(2);
}, 60_000);

test('checking which of many waiting messages are answered takes one Redis call per 200 messages [failover-backlog]', async () => {
  for (let index = 0; index < 400; index += 1) memory.keep(asKept(index));
  await server.redis.config('RESETSTAT');
  rememberedMs = 5 * MINUTE_MS;
  const calls = async (names: string) =>
    [...(await server.redis.info('commandstats')).matchAll(new RegExp(`cmdstat_(?:${names}):calls=(\\d+)`, 'gu'))]
      .map(([, count]) => Number(count))
      .reduce((sum, count) => sum + count, 0);
  await untilTrue(async () => (await calls('hget')) >= 800);
  endWatch();
  expect((await calls('eval|evalsha')) * 150).toBeLessThan(await calls('hget'));
  expect(memory.all().whole).toHaveLength(400);
}, 60_000);

test('a message stored under a former Redis history counts as possibly posted, although no receiver remembers it [failover]', async () => {
  endWatch();
  const ids = await acceptAll([textMessage('q')]);
  const record = messageKey(alice.partition, ids[0] ?? asDeliveryId(''));
  const store = new DyingWorkersStore({ redis: server.redis, keyRing, nowMs, historyLifeMs: MINUTE_MS });
  const first = await store.begin(alice);
  expect(await server.redis.hget(record, 'again')).toBeNull();
  if (first) await store.giveBack(first, 0);
  await changeHistory();
  const claim = await store.begin(alice);
  if (!claim) throw new Error('nothing waits');
  const place = {
    redis: server.redis,
    conversation: alice,
    epoch: claim.epoch,
    deliveryId: claim.turnId,
    place: '',
    doubtedAgeMs: 0,
  };
  expect(await createPostLedger(place).begin(0)).toMatchObject({ kind: 'posting' });
  // Messages accepted from now on are known completely.
  await store.commit(claim, { outcome: 'final', records: [] });
  const [next = asDeliveryId('')] = await acceptAll([textMessage('next')]);
  const later = await store.begin(alice);
  expect(await server.redis.hget(messageKey(alice.partition, next), 'again')).toBeNull();
  expect(later?.turnId).toBe(next);
}, 60_000);

test('no history is treated as a former one when Redis does not reveal its history', async () => {
  await acceptAll([textMessage('q')]);
  await server.redis.call('ACL', 'SETUSER', 'default', '-info');
  const [id = asDeliveryId('')] = await acceptAll([textMessage('next')]);
  await changeHistory();
  const store = new DyingWorkersStore({ redis: server.redis, keyRing, nowMs, historyLifeMs: MINUTE_MS });
  expect((await store.begin(alice))?.messages).toHaveLength(2);
  expect(await server.redis.hget(messageKey(alice.partition, id), 'again')).toBeNull();
}, 60_000);

test('messages beyond the limits of the buffer are reduced to their ids, oldest first and several at once [failover]', () => {
  let now = 0;
  const recent = new ReplayBuffer({ nowMs: () => now });
  for (let index = 0; index < 20_000; index += 1) recent.keep(asKept(index));
  now = 2 * MINUTE_MS;
  recent.keep(asKept(20_000));
  const { whole, bare } = recent.all();
  expect([whole.length, bare.length]).toEqual([19_375, 626]);
  expect([...bare, ...whole].map(({ deliveryId }) => deliveryId)).toEqual(
    Array.from({ length: 20_001 }, (_, index) => `${index}`),
  );
  // All of them are dropped a day later.
  now += 24 * 60 * MINUTE_MS;
  expect(recent.all().whole).toEqual([]);
});

test('a receiver uses the history of Redis from the last message for a second, but not over a new connection [failover]', async () => {
  const historyOf = async (name: string) => {
    const [id = asDeliveryId('')] = await acceptAll([textMessage(name)]);
    return server.redis.hget(messageKey(alice.partition, id), 'history');
  };
  const current = async () => /master_replid:(\w+)/.exec(await server.redis.info('replication'))?.[1];
  const before = await current();
  expect(await historyOf('first')).toBe(before);
  await server.redis.call('DEBUG', 'CHANGE-REPL-ID');
  expect(await historyOf('at once')).toBe(before);
  await reconnect();
  expect(await historyOf('over a new connection')).toBe(await current());
  await changeHistory();
  expect(await historyOf('after a second')).toBe(await current());
}, 60_000);
