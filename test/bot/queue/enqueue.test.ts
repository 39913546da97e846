import { expect, test } from '@jest/globals';
import { startTcpProxy } from '../../support/tcp-proxy.ts';
import { conversationKeys } from '../../../src/bot/domain/partition-keys.ts';
import { connectRedis, type RedisClient } from '../../../src/shared/redis/redis.ts';
import { conversationOf, deliveryIdOf } from '../../../src/bot/domain/conversation.ts';
import { Inbox } from '../../../src/bot/queue/accept.ts';
import { deliveryIdOfEntry } from '../../../src/bot/queue/inbox-entry.ts';
import { enqueue } from '../../../src/bot/queue/enqueue.ts';
import { WakeQueue } from '../../../src/bot/queue/wake-queue.ts';
import { recordingLog } from '../../support/redis.ts';
import { messageOf, until, useWorkerFixture } from './worker-fixture.ts';

const fixture = useWorkerFixture();
const { log } = recordingLog();

/** Stores and wakes as a receiver with this connection does. */
function receiverOn(redis: RedisClient) {
  const options = { redis, keyRing: fixture.keyRing, nowMs: Date.now, limits: { personPerMinute: 1_000 } };
  const inbox = new Inbox(options);
  const wakeQueue = new WakeQueue(redis, 1, log);
  return {
    inbox,
    wakeQueue,
    async ask(userId: string) {
      const message = messageOf(userId, 'a question');
      await enqueue({ inbox, wakeQueue, log }, conversationOf(message, 'member'), message);
    },
  };
}

/** The number of wakes enqueued so far. */
const wakes = async () => Number((await fixture.server.redis.get('{wake0}:turns:id')) ?? 0);

test('a wake follows its message although Redis has lost the script that stores it, without the sweeper', async () => {
  let answered = 0;
  fixture.startWorker(async () => {
    answered += 1;
    return { outcome: 'final', records: [] };
  });
  const proxy = await startTcpProxy(Number(new URL(fixture.server.url).port));
  const far = connectRedis({ urls: [`redis://127.0.0.1:${proxy.port}`] }, 'wait', log, 'far');
  const receiver = receiverOn(far);
  await receiver.ask('warm');
  await until(() => answered === 1);
  // Redis loses all scripts. A wake of another receiver then loads the wake script again, but not the script that stores.
  await fixture.server.redis.script('FLUSH');
  await fixture.wakeQueue.wake(conversationOf(messageOf('nobody', 'x'), 'member'));
  // So slow a link that the woken worker reads the inbox long before the script is sent again.
  proxy.breakWith({ kind: 'delay', delayMs: 150 });
  await receiver.ask('alice');
  await until(() => answered === 2, 5_000);
  await receiver.wakeQueue.close();
  far.disconnect();
  await proxy.close();
});

test('enqueues exactly one wake per message', async () => {
  const { ask } = receiverOn(fixture.server.redis);
  await ask('warm');
  for (let index = 0; index < 20; index += 1) await ask(`person${index}`);
  await Promise.all(Array.from({ length: 20 }, (_, index) => ask(`other${index}`)));
  await until(async () => (await wakes()) >= 41);
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(await wakes()).toBe(41);
});

test('adds one wake for the messages that a conversation gets within one event-loop turn', async () => {
  const { wakeQueue } = receiverOn(fixture.server.redis);
  const [alice, bob] = ['alice', 'bob'].map((name) => conversationOf(messageOf(name, 'a question'), 'member'));
  if (!alice || !bob) throw new Error('a conversation is missing');
  await wakeQueue.wake(alice);
  const before = await wakes();
  await Promise.all([alice, bob, bob, alice, bob].map((conversation) => wakeQueue.wake(conversation)));
  expect((await wakes()) - before).toBe(2);
  await Promise.all([wakeQueue.wake(bob), wakeQueue.close()]);
  expect((await wakes()) - before).toBe(3);
});

test('messages are stored in their order of arrival, also right after a start', async () => {
  for (let round = 0; round < 5; round += 1) {
    await fixture.server.redis.flushall();
    await fixture.server.redis.script('FLUSH');
    const redis = connectRedis({ urls: [fixture.server.url] }, 'wait', log, 'new');
    const { inbox, wakeQueue } = receiverOn(redis);
    const messages = Array.from({ length: 30 }, () => messageOf('alice', 'a question'));
    const [first] = messages.map((message) => conversationOf(message, 'member'));
    if (!first) throw new Error('there are no messages');
    const storing: Promise<unknown>[] = [];
    for (const message of messages) {
      storing.push(inbox.accept(first, message));
      await new Promise((resolve) => setImmediate(resolve));
    }
    await Promise.all(storing);
    const entries = await redis.lrange(conversationKeys(first).inbox, 0, -1);
    expect(entries.map(deliveryIdOfEntry)).toEqual(messages.map(deliveryIdOf));
    await wakeQueue.close();
    redis.disconnect();
  }
});
