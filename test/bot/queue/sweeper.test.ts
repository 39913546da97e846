import { expect, test } from '@jest/globals';
import { pendingKey } from '../../../src/bot/domain/partition-keys.ts';
import { connectRedis } from '../../../src/shared/redis/redis.ts';
import { conversationOf, type ConversationRef } from '../../../src/bot/domain/conversation.ts';
import { Sweeper, SWEEP_AFTER_MS } from '../../../src/bot/queue/sweeper.ts';
import { WakeQueue } from '../../../src/bot/queue/wake-queue.ts';
import { ageMessages } from '../../support/age-messages.ts';
import { textMessage } from '../../support/messages.ts';
import { messageOf, useWorkerFixture } from './worker-fixture.ts';

const fixture = useWorkerFixture();
const woken = () => new Sweeper({ ...fixture, redis: fixture.server.redis }).sweep();
const untouched = () => ageMessages(fixture.server.redis, SWEEP_AFTER_MS);

test('the sweeper wakes a conversation that was untouched for 10 s, until it is done [accept-once]', async () => {
  const message = textMessage('q');
  const conversation = conversationOf(message, 'member');
  await fixture.inbox.accept(conversation, message);
  expect(await woken()).toBe(0);
  await untouched();
  expect(await woken()).toBe(1);

  const claim = await fixture.store.begin(conversation);
  if (!claim) throw new Error('nothing waits');
  expect(await woken()).toBe(0);
  await untouched();
  await fixture.store.renew(claim);
  expect(await woken()).toBe(0);
  // A turn that a worker gives back is due at once.
  await fixture.store.giveBack(claim, SWEEP_AFTER_MS);
  expect(await woken()).toBe(1);

  const again = await fixture.store.begin(conversation);
  await untouched();
  if (again) await fixture.store.commit(again, { outcome: 'held', records: [] });
  expect(await woken()).toBe(0);
  await fixture.store.release(conversation);
  expect(await woken()).toBe(0);
  await untouched();
  expect(await woken()).toBe(1);
  const released = await fixture.store.begin(conversation);
  await untouched();
  if (released) await fixture.store.commit(released, { outcome: 'final', records: [] });
  expect(await woken()).toBe(0);
  expect(await fixture.server.redis.keys('*:pending')).toEqual([]);
});

/** Stores messages of `count` people whose wakes were lost long ago. */
async function loseWakes(count: number, partition?: number): Promise<ConversationRef[]> {
  const lost: ConversationRef[] = [];
  for (let index = 0; lost.length < count; index += 1) {
    const message = messageOf(`person${index}`, 'q');
    const conversation = conversationOf(message, 'member');
    if (partition !== undefined && conversation.partition !== partition) continue;
    await fixture.inbox.accept(conversation, message);
    await fixture.server.redis.zincrby(pendingKey(conversation.partition), index - 60_000, conversation.id);
    lost.push(conversation);
  }
  return lost;
}

/** The number of wakes enqueued so far. */
const wakes = async () => Number((await fixture.server.redis.get('{wake0}:turns:id')) ?? 0);
const touchedLater = (conversations: ConversationRef[], byMs: number) =>
  Promise.all(conversations.map(({ id, partition }) => fixture.server.redis.zincrby(pendingKey(partition), -byMs, id)));

test("the sweeper wakes a conversation whose timestamp is in the future since Redis' clock was set back", async () => {
  const message = textMessage('q');
  const conversation = conversationOf(message, 'member');
  await fixture.inbox.accept(conversation, message);
  await fixture.server.redis.zincrby(pendingKey(conversation.partition), 300_000, conversation.id);
  expect(await woken()).toBe(1);
  expect(await woken()).toBe(0);
});

test('a waiting conversation is woken once per round, however many processes sweep, and again in the next round', async () => {
  const lost = await loseWakes(120);
  const sweepers = Array.from({ length: 8 }, () => new Sweeper({ ...fixture, redis: fixture.server.redis }));
  const found = await Promise.all(sweepers.map((sweeper) => sweeper.sweep()));
  expect(found.reduce((sum, count) => sum + count, 0)).toBe(120);
  for (const sweeper of sweepers) expect(await sweeper.sweep()).toBe(0);
  expect(await wakes()).toBe(120);
  // The shortest pause between two rounds of a process is 4.5 s: a wake that is lost again is repeated in the next round.
  await touchedLater(lost, 4_500);
  expect(await woken()).toBe(120);
});

test('a round wakes at most ten conversations of a partition, longest waiting first', async () => {
  const lost = await loseWakes(25, 7);
  expect(await woken()).toBe(10);
  expect(await woken()).toBe(10);
  expect(await woken()).toBe(5);
  const jobs = (await fixture.server.redis.lrange('{wake0}:turns:wait', 0, -1)).reverse();
  const inOrder = await Promise.all(jobs.map((job) => fixture.server.redis.hget(`{wake0}:turns:${job}`, 'deid')));
  expect(inOrder).toEqual(lost.map(({ id }) => id));
});

test('a conversation that a sweeper took but could not wake is woken by another one after one round', async () => {
  const lost = await loseWakes(3);
  const away = connectRedis({ urls: [fixture.server.url] }, 'wait', fixture.log, 'away');
  const wakeQueue = new WakeQueue(away, 1, fixture.log);
  await wakeQueue.waiting();
  away.disconnect();
  expect(await new Sweeper({ ...fixture, redis: fixture.server.redis, wakeQueue }).sweep()).toBe(0);
  expect(await wakes()).toBe(0);
  expect(await woken()).toBe(0);
  await touchedLater(lost, 4_500);
  expect(await woken()).toBe(3);
});
