import { randomBytes } from 'node:crypto';
import { beforeEach, expect, test } from '@jest/globals';
import { MINUTE_MS } from '../../../src/shared/clock.ts';
import { KeyRing } from '../../../src/shared/crypto/key-ring.ts';
import { conversationOf } from '../../../src/bot/domain/conversation.ts';
import { conversationKeys } from '../../../src/bot/domain/partition-keys.ts';
import { Inbox } from '../../../src/bot/queue/accept.ts';
import { TurnStore } from '../../../src/bot/queue/turn-store.ts';
import { textMessage } from '../../support/messages.ts';
import { useTestRedis } from '../../support/use-test-redis.ts';

const server = useTestRedis();
const keyRing = new KeyRing([randomBytes(32)]);
const alice = conversationOf(textMessage('x'), 'member');
const { inbox } = conversationKeys(alice);

beforeEach(async () => {
  await server.redis.flushdb();
});

/** Replaces the message of the newest entry by other content, as a defective worker would. */
async function resealEntry(plain: string): Promise<string> {
  const [entry = ''] = await server.redis.lrange(inbox, -1, -1);
  const deliveryId = entry.slice(0, entry.indexOf(':'));
  const place = entry.slice(0, entry.lastIndexOf(':') + 1);
  await server.redis.lset(inbox, -1, place + keyRing.seal('message', deliveryId, plain));
  return deliveryId;
}

test.each(['no JSON', 'null', '[]', '{}', '{"version":1}', '{"version":1,"parts":[],"chat":{},"sender":7}'])(
  'a message that decrypts to invalid content (%s) is reported as unreadable, and the next message is still answered [sealed-records]',
  async (plain) => {
    const parts = { redis: server.redis, keyRing, nowMs: Date.now, historyLifeMs: MINUTE_MS };
    await new Inbox(parts).accept(alice, textMessage('a question'));
    const deliveryId = await resealEntry(plain);
    await new Inbox(parts).accept(alice, textMessage('the next question'));
    const claim = await new TurnStore(parts).begin(alice);
    expect(claim).toMatchObject({ unreadable: [deliveryId], crashes: 0 });
    expect(claim?.messages.map(({ message }) => message.parts)).toEqual([
      [{ type: 'text', text: 'the next question' }],
    ]);
  },
);

test('a message of a newer version waits for a newer worker, whatever it contains', async () => {
  const parts = { redis: server.redis, keyRing, nowMs: Date.now, historyLifeMs: MINUTE_MS };
  await new Inbox(parts).accept(alice, textMessage('a question'));
  await resealEntry('{"version":2}');
  const begun = new TurnStore(parts).begin(alice);
  await expect(begun).rejects.toMatchObject({ code: 'entry_unknown_version' });
  expect(await server.redis.llen(inbox)).toBe(1);
});
