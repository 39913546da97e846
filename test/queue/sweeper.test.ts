import { expect, test } from '@jest/globals';
import { conversationOf } from '../../src/platforms/conversation-key.ts';
import { sweep, SWEEP_AFTER_MS } from '../../src/queue/sweeper.ts';
import { ageMessages } from '../support/age-messages.ts';
import { textMessage } from '../support/messages.ts';
import { useWorkerScene } from './worker-scene.ts';

const scene = useWorkerScene();
const woken = () => sweep({ ...scene, redis: scene.server.redis });
const untouched = () => ageMessages(scene.server.redis, SWEEP_AFTER_MS);

test('security.md 3.5: the sweeper wakes what nobody touched for ten seconds, until it is done', async () => {
  const message = textMessage('q');
  const conversation = conversationOf(message, 'member');
  await scene.inbox.accept(conversation, message);
  expect(await woken()).toBe(0);
  await untouched();
  expect(await woken()).toBe(1);

  const claim = await scene.store.begin(conversation);
  if (!claim) throw new Error('nothing waits');
  expect(await woken()).toBe(0);
  await untouched();
  await scene.store.renew(claim);
  expect(await woken()).toBe(0);
  // What a worker gives back is taken up at once.
  await scene.store.giveBack(claim, SWEEP_AFTER_MS);
  expect(await woken()).toBe(1);

  const again = await scene.store.begin(conversation);
  await untouched();
  if (again) await scene.store.commit(again, { outcome: 'held', records: [] });
  expect(await woken()).toBe(0);
  await scene.store.release(conversation);
  expect(await woken()).toBe(0);
  await untouched();
  expect(await woken()).toBe(1);
  const released = await scene.store.begin(conversation);
  await untouched();
  if (released) await scene.store.commit(released, { outcome: 'final', records: [] });
  expect(await woken()).toBe(0);
  expect(await scene.server.redis.keys('*:pending')).toEqual([]);
});
