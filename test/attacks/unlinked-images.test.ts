import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { MIB_BYTES } from '../../src/base/clock.ts';
import { MediaStore } from '../../src/conversation/images/media-store.ts';
import { testKeyRing } from '../support/messages.ts';
import { noisePicture } from '../support/noise-picture.ts';
import { startTown, untilTrue, type Town } from '../support/town.ts';

let town: Town;
beforeAll(async () => {
  town = await startTown();
}, 60_000);
afterAll(() => town.stop());

const driver = () => town.messenger.driver;
const kept = () => town.redis.keys('{p*}:media:*');

test('pictures of somebody who is not signed in are not fetched, and the one of a question that waits is there after the sign-in', async () => {
  const image = await noisePicture(400, 300).png().toBuffer();
  const message = await driver().say('zhangwei', { text: 'what is this?', images: [image, image, image] });
  await untilTrue(async () => (await driver().answer(message.id))?.text.includes('/link/') ?? false);
  // A receiver fetches pictures three seconds after a message.
  await sleep(4_000);
  expect(await kept()).toEqual([]);
  await town.signIn('zhangwei', (await driver().answer(message.id))?.text ?? '');
  expect((await driver().waitForAnswer(message.id)).text).toMatch(/3|three|三/i);
  expect(await kept()).toHaveLength(3);
});

test('of one person no more than a share of bytes is kept, however many pictures they send', async () => {
  const store = new MediaStore(town.redis, testKeyRing());
  const image = { dataUrl: `data:image/png;base64,${'A'.repeat(MIB_BYTES)}` };
  const keep = (personId: string, mediaId: string) => store.keep({ partition: 7, personId, mediaId }, image);
  for (let count = 0; count < 40; count += 1) await keep('somebody', `flood:${count}`);
  // Sealed bytes are a third more than plain ones.
  const flood = await town.redis.keys('{p7}:media:flood:*');
  expect([flood.length > 20, flood.length < 32]).toEqual([true, true]);
  // What is kept already costs nothing once more, and another person has a share of their own.
  await keep('somebody', 'flood:0');
  await keep('another', 'other:0');
  const found = await store.read(7, ['flood:0', 'flood:39', 'other:0']);
  expect(found.map((one) => one !== undefined)).toEqual([true, false, true]);
});
