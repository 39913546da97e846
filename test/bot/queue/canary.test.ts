import { afterEach, expect, test } from '@jest/globals';
import { Canary, commitCanary, isCanary } from '../../../src/bot/queue/canary.ts';
import { conversationOf } from '../../../src/bot/domain/conversation.ts';
import type { TurnControls } from '../../../src/bot/domain/turn.ts';
import { textMessage } from '../../support/messages.ts';
import { untilTrue } from '../../support/until-true.ts';
import { useWorkerFixture } from './worker-fixture.ts';

const EVERY_MS = 400;
const HEALTHY_MS = EVERY_MS + 30_000;
const fixture = useWorkerFixture();
const canaries: Canary[] = [];
afterEach(() => {
  for (const canary of canaries.splice(0)) canary.stop();
});

const clock = { nowMs: 0 };
function startCanary(isBusy = () => false): Canary {
  clock.nowMs = 1_000;
  const { keyRing, wakeQueue, log, report, server } = fixture;
  const around = { redis: server.redis, keyRing, wakeQueue, log, report };
  const options = { workerName: 'w1', everyMs: EVERY_MS, isBusy, monotonicMs: () => clock.nowMs };
  const canary = new Canary({ ...around, ...options });
  canaries.push(canary);
  return canary;
}

const runCanary = async ({ claim }: TurnControls) => {
  if (!isCanary(claim)) throw new Error('not a canary');
  return commitCanary(claim);
};
const committed = () => fixture.reported.filter((each) => each === 'canary committed').length;

test('canary questions are committed by a worker, and leave nothing but the counter of their sender', async () => {
  fixture.startWorker(runCanary);
  const canary = startCanary();
  clock.nowMs += HEALTHY_MS + 1;
  expect(canary.isHealthy()).toBe(false);
  await untilTrue(() => committed() >= 2);
  expect(canary.isHealthy()).toBe(true);
  canary.stop();
  await untilTrue(async () => {
    const keys = await fixture.server.redis.keys('{p*');
    return keys.every((key) => key.includes(':rate:'));
  });
  // On a busy machine one may be late.
  expect(fixture.reported.filter((each) => !/^canary (?:committed|late)$/.test(each))).toEqual([]);
});

test('without a worker one canary question waits, its worker becomes unhealthy, and recovers with a worker', async () => {
  const canary = startCanary();
  await untilTrue(() => fixture.reported.filter((each) => each === 'canary late').length >= 2);
  expect(await fixture.server.redis.keys('*:inbox:*')).toHaveLength(1);
  clock.nowMs += HEALTHY_MS;
  expect(canary.isHealthy()).toBe(true);
  clock.nowMs += 1;
  expect(canary.isHealthy()).toBe(false);
  fixture.startWorker(runCanary);
  await untilTrue(() => canary.isHealthy());
});

test('a worker whose slots are all in use sends no canary question and stays healthy', async () => {
  const canary = startCanary(() => true);
  clock.nowMs += HEALTHY_MS + 1;
  await untilTrue(() => canary.isHealthy());
  expect(await fixture.server.redis.keys('*:inbox:*')).toEqual([]);
  expect(fixture.reported).toEqual([]);
});

test('a question of a person is not a canary question', async () => {
  const message = textMessage('canary');
  const conversation = conversationOf(message, 'member');
  await fixture.inbox.accept(conversation, message);
  const claim = await fixture.store.begin(conversation);
  expect(claim && isCanary(claim)).toBe(false);
});
