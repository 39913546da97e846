import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { connectRedis, type RedisClient } from '../../src/base/redis.ts';
import { conversationKeys, messageKey } from '../../src/base/partition-keys.ts';
import { MIB_BYTES, MINUTE_MS } from '../../src/base/clock.ts';
import { conversationOf } from '../../src/platforms/conversation-key.ts';
import type { InboundMessage } from '../../src/platforms/platform.ts';
import { Inbox } from '../../src/queue/accept.ts';
import { watchForLostEvents } from '../../src/queue/offer-again.ts';
import { RecentAccepts } from '../../src/queue/recent-accepts.ts';
import { WakeQueue } from '../../src/queue/wake-queue.ts';
import { testKeyRing, textMessage } from '../support/messages.ts';
import { recordingLog, startTestRedis, type TestRedis } from '../support/redis.ts';
import { untilTrue } from '../support/town.ts';
import { useWorkerScene } from './worker-scene.ts';
import { DyingWorkersStore } from '../support/dying-workers.ts';

const scene = useWorkerScene();
const { log } = recordingLog();
const keyRing = testKeyRing();
let offsetMs = 0;
const nowMs = () => 1_800_000_000_000 + offsetMs;
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
  offsetMs = 0;
  const recent = new RecentAccepts();
  inbox = new Inbox({ redis, keyRing, nowMs, recent });
  wakeQueue = new WakeQueue(redis, 1, log);
  endWatch = watchForLostEvents({ redis, inbox, recent, wakeQueue, log, report: scene.report });
  await untilTrue(() => redis.status === 'ready');
});
afterEach(async () => {
  endWatch();
  await wakeQueue.close();
  redis.disconnect();
  await server.stop();
});

async function acceptAll(messages: InboundMessage[]): Promise<string[]> {
  const ids: string[] = [];
  for (const message of messages) {
    const { deliveryId, result } = await inbox.accept(alice, message);
    expect(result).toBe('new');
    ids.push(deliveryId);
  }
  return ids;
}
/** Breaks the receiver's connection. @returns once it stands again and has worked for a while */
async function reconnect(): Promise<void> {
  const isBack = new Promise<void>((resolve) => void redis.once('ready', () => resolve()));
  await server.redis.call('CLIENT', 'KILL', 'TYPE', 'normal');
  await isBack;
}
/** What a Redis is like that has taken over without having got anything. */
async function loseAll(): Promise<void> {
  await server.redis.flushall();
  await server.redis.call('DEBUG', 'CHANGE-REPL-ID');
}
const waitingTexts = async () => {
  const claim = await new DyingWorkersStore({ redis: server.redis, keyRing, nowMs, historyLifeMs: MINUTE_MS }).begin(
    alice,
  );
  return claim?.messages.map(({ message }) => message.parts);
};

test('F12: lost messages are stored again in their order, once, and whatever the limits are meanwhile', async () => {
  const messages = Array.from({ length: 19 }, (_, index) => textMessage(`q${index}`));
  const ids = await acceptAll(messages);
  const before = await server.redis.lrange(keys.inbox, 0, -1);
  await loseAll();
  const sinceMs = 5 * MINUTE_MS;
  offsetMs = sinceMs;
  // By now the person has sent as many as may be sent a minute.
  for (const said of ['a', 'b', 'c'])
    await new Inbox({ redis: server.redis, keyRing, nowMs }).accept(alice, textMessage(said));
  await reconnect();
  await untilTrue(() => scene.reported.length === 19);
  expect(scene.reported).toEqual(Array(19).fill('recovered'));
  const after = await server.redis.lrange(keys.inbox, 0, -1);
  const idOf = (entry: string) => entry.split(':')[0];
  expect(after.slice(3).map(idOf)).toEqual(before.map(idOf));
  expect(after.slice(3).map(idOf)).toEqual(ids);
  // As of when they came, so that a question that became too old is not answered by surprise.
  const stampOf = (entry = '') => Number(entry.split(':')[2]);
  for (const [index, entry] of after.slice(3).entries()) {
    const laterMs = stampOf(entry) - stampOf(before[index]);
    expect(Math.abs(laterMs + sinceMs)).toBeLessThan(MINUTE_MS);
  }
  expect(await wakeQueue.waiting()).toBe(1);
  // The next connection finds all of them.
  await server.redis.call('DEBUG', 'CHANGE-REPL-ID');
  await reconnect();
  await inbox.accept(alice, textMessage('later')).catch(() => undefined);
  expect(await server.redis.llen(keys.inbox)).toBe(22);
  expect(await waitingTexts()).toHaveLength(10);
}, 30_000);

test('F12: a connection that comes back to the same data offers nothing again', async () => {
  const [id = ''] = await acceptAll([textMessage('q')]);
  // Were it offered again it would be stored again.
  await server.redis.del(keys.inbox, messageKey(alice.partition, id));
  await reconnect();
  await inbox.accept(alice, textMessage('next'));
  expect(scene.reported).toEqual([]);
  expect(await server.redis.llen(keys.inbox)).toBe(1);
}, 30_000);

test('F12: what was too much to be kept whole is told by its id when it is lost, and nothing else is', async () => {
  const big = 'x'.repeat(1.5 * MIB_BYTES);
  await acceptAll(Array.from({ length: 10 }, () => textMessage(big)));
  await loseAll();
  await reconnect();
  await untilTrue(() => scene.reported.length === 10);
  const lost = scene.reported.filter((what) => what === 'lost').length;
  // Sealed they are a third longer: 2 MiB each.
  expect(lost).toBe(3);
  expect(await server.redis.llen(keys.inbox)).toBe(7);
}, 30_000);

test('F12: a worker whose epoch a failover lost is refused, although the next claim counts from an older one', async () => {
  await acceptAll([textMessage('q')]);
  const store = new DyingWorkersStore({ redis: server.redis, keyRing, nowMs, historyLifeMs: MINUTE_MS });
  const first = await store.begin(alice);
  // The replica had not yet got the claim.
  await server.redis.hdel(keys.state, 'epoch', 'claim', 'running');
  const second = await store.begin(alice);
  if (!first || !second) throw new Error('nothing waits');
  expect(await store.renew(first)).toBeUndefined();
  expect(await store.storeAnswer(first, 'of the old one')).toBe(false);
  expect(await store.renew(second)).toBeDefined();
});
