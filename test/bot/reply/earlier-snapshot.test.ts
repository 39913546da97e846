import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { messageKey } from '../../../src/bot/domain/partition-keys.ts';
import { asDeliveryId } from '../../../src/bot/domain/ids.ts';
import { EarlierSnapshot } from '../../../src/bot/reply/earlier-snapshot.ts';
import { testKeyRing } from '../../support/messages.ts';
import { useTestRedis } from '../../support/use-test-redis.ts';
import { tries } from '../../support/tries.ts';

const ID = asDeliveryId('abc');
const keyRing = testKeyRing();
const server = useTestRedis();

/** The snapshot that a dead worker left. */
async function after(shown: string): Promise<EarlierSnapshot> {
  const place = { partition: 1, deliveryId: ID, purpose: 'reply' };
  await server.redis.del(messageKey(1, ID));
  if (shown !== '') await server.redis.hset(messageKey(1, ID), 'content', keyRing.seal('reply', ID, shown));
  return new EarlierSnapshot({ redis: server.redis, keyRing, ...place });
}

test('holds back a repeated text until it goes beyond the text that was shown before', async () => {
  const shown = '1 2 3 **four**';
  const snapshot = await after(shown);
  for (const text of ['', '1', '1 2', '1 2 3 **fo**']) expect(await snapshot.holds(text)).toBe(true);
  expect(await snapshot.holds('1 2 3 **four** 5')).toBe(false);
  // From now on every snapshot of the new answer is shown.
  expect(await snapshot.holds('1')).toBe(false);
});

test('shows a different text at once, and any text when none was shown before', async () => {
  expect(await (await after('1 2 3')).holds('One')).toBe(false);
  expect(await (await after('')).holds('1')).toBe(false);
});

test('property: holds back only texts shorter than the one that was shown', async () => {
  await fc.assert(
    fc.asyncProperty(fc.string(), fc.string(), async (shown, text) => {
      if (await (await after(shown)).holds(text)) expect(text.length).toBeLessThan(shown.length);
    }),
    { numRuns: tries(60) },
  );
});
