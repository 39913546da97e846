import { expect, test } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { hashParts } from '../../../src/shared/crypto/ids.ts';
import { KeyRing } from '../../../src/shared/crypto/key-ring.ts';
import { MediaStore } from '../../../src/bot/turn/conversation/images/media-store.ts';
import { conversationOf, personIdOf } from '../../../src/bot/domain/conversation.ts';
import { Inbox } from '../../../src/bot/queue/accept.ts';
import { notifyRefused } from '../../../src/bot/ingress/notify-refused.ts';
import { createFakePlatform } from '../../support/fake-platform.ts';
import { textMessage } from '../../support/messages.ts';
import { recordingLog } from '../../support/redis.ts';
import { untilTrue } from '../../support/deployment.ts';
import { useTestRedis } from '../../support/use-test-redis.ts';

const server = useTestRedis();

const said = () => textMessage('hello', { chat: { kind: 'group', id: 'wrgroup' }, sender: { userId: 'alice' } });
const personId = personIdOf(said(), 'alice');

/** Triggers all counters of a person and a chat. @returns the names of the counters */
async function counters(keyRing: KeyRing): Promise<string[]> {
  const { redis } = server;
  await redis.flushall();
  const message = said();
  await new Inbox({ redis, keyRing }).accept(conversationOf(message, 'member'), message);
  const image = { partition: 1, personId, isSignedIn: true, mediaId: 'm' };
  await new MediaStore(redis, keyRing).storeImage(image, { dataUrl: 'data:' });
  const platform = createFakePlatform();
  notifyRefused({ redis, keyRing, log: recordingLog().log }, platform, message, 'limited');
  await untilTrue(() => platform.written.length === 1);
  const names = await redis.keys('*');
  return names.filter((name) => /rate|media-kept|limited/.test(name)).sort();
}

test('counters of people and chats are named by a keyed hash, so that a reader of Redis keys cannot guess ids', async () => {
  const names = await counters(new KeyRing([randomBytes(32)]));
  expect(names).toHaveLength(4);
  const guesses = [personId, hashParts('chat', 'wrgroup').slice(0, 32), 'alice', 'wrgroup'];
  expect(names.filter((name) => guesses.some((guess) => name.includes(guess)))).toEqual([]);
  const others = await counters(new KeyRing([randomBytes(32)]));
  expect(others.filter((name) => names.includes(name))).toEqual([]);
});

test('the names of counters depend on the current key only, not on previous keys', async () => {
  const [key, older] = [randomBytes(32), randomBytes(32)];
  expect(await counters(new KeyRing([key, older]))).toEqual(await counters(new KeyRing([key])));
});
