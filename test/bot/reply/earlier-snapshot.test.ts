import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { messageKey } from '../../../src/bot/domain/partition-keys.ts';
import { asDeliveryId } from '../../../src/bot/domain/ids.ts';
import { EarlierSnapshot } from '../../../src/bot/reply/earlier-snapshot.ts';
import { testKeyRing } from '../../support/messages.ts';
import { useTestRedis } from '../../support/use-test-redis.ts';

const ID = asDeliveryId('abc');
const keyRing = testKeyRing();
const server = useTestRedis();

/** What stands there of a dead worker's answer. */
async function after(shown: string): Promise<EarlierSnapshot> {
  const place = { partition: 1, deliveryId: ID, purpose: 'reply' };
  await server.redis.del(messageKey(1, ID));
  if (shown !== '') await server.redis.hset(messageKey(1, ID), 'content', keyRing.seal('reply', ID, shown));
  return new EarlierSnapshot({ redis: server.redis, keyRing, ...place });
}

test('while the model says the same words again, what was read already stays; what goes beyond is shown', async () => {
  const shown = '1 2 3 **four**';
  const snapshot = await after(shown);
  for (const text of ['', '1', '1 2', '1 2 3 **fo**']) expect(await snapshot.holds(text)).toBe(true);
  expect(await snapshot.holds('1 2 3 **four** 5')).toBe(false);
  // From then on every snapshot is the new one's own.
  expect(await snapshot.holds('1')).toBe(false);
});

test('other words than before are shown at once, and so is all where nothing stood', async () => {
  expect(await (await after('1 2 3')).holds('One')).toBe(false);
  expect(await (await after('')).holds('1')).toBe(false);
});

test('whatever is held back is shorter than what stands, and no text of the whole answer is', async () => {
  await fc.assert(
    fc.asyncProperty(fc.string(), fc.string(), async (shown, text) => {
      if (await (await after(shown)).holds(text)) expect(text.length).toBeLessThan(shown.length);
    }),
    { numRuns: 60 },
  );
});
