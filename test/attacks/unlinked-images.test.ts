import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { MIB_BYTES } from '../../src/shared/clock.ts';
import { MediaStore } from '../../src/bot/turn/conversation/images/media-store.ts';
import { testKeyRing } from '../support/messages.ts';
import { noisePicture } from '../support/noise-picture.ts';
import { startDeployment, untilTrue, type Deployment } from '../support/deployment.ts';
import { asPersonId } from '../../src/bot/domain/ids.ts';

let deployment: Deployment;
beforeAll(async () => {
  deployment = await startDeployment();
}, 60_000);
afterAll(() => deployment.stop());

const driver = () => deployment.messenger.driver;
const kept = () => deployment.redis.keys('{p*}:media:*');

test('images are fetched before a turn only for signed-in people, and for a held question after the sign-in', async () => {
  const known = await driver().send('linxiaoyu', 'count to 8000');
  await untilTrue(async () => (await driver().answer(known.id))?.text.includes('/link/') ?? false);
  await deployment.signIn('linxiaoyu', (await driver().answer(known.id))?.text ?? '');
  await untilTrue(async () => (await driver().answer(known.id))?.text.startsWith('1') ?? false);
  const image = await noisePicture(200, 150).png().toBuffer();
  const message = await driver().send('zhangwei', { text: 'what is this?', images: [image, image, image] });
  // For a known person with a waiting question, the receiver fetches the images a few seconds after the message.
  const larger = await noisePicture(800, 600).png().toBuffer();
  const next = await driver().send('linxiaoyu', { text: 'and what is this?', images: [larger] });
  const isLarge = async (key: string) => (await deployment.redis.strlen(key)) > 3 * image.length;
  const areLarge = async () => Promise.all((await kept()).map(isLarge));
  await untilTrue(async () => (await areLarge()).includes(true));
  expect(await areLarge()).toEqual([true]);
  // The receiver fetched the image, not a turn.
  expect((await driver().answer(next.id))?.text ?? '').not.toMatch(/800|600/);
  await untilTrue(async () => (await driver().answer(message.id))?.text.includes('/link/') ?? false);
  await deployment.signIn('zhangwei', (await driver().answer(message.id))?.text ?? '');
  expect((await driver().waitForAnswer(message.id)).text).toMatch(/3|three|三/i);
  expect(await kept()).toHaveLength(4);
  expect((await driver().waitForAnswer(next.id, { timeoutMs: 120_000 })).text).toMatch(/800|600/);
}, 180_000);

test('media of one person is limited in bytes per partition: the oldest entries are evicted first', async () => {
  const store = new MediaStore(deployment.redis, testKeyRing());
  const image = { dataUrl: `data:image/png;base64,${'A'.repeat(MIB_BYTES)}` };
  const keep = (personId: string, mediaId: string) =>
    store.storeImage({ partition: 7, personId: asPersonId(personId), isSignedIn: true, mediaId }, image);
  for (let count = 0; count < 40; count += 1) await keep('somebody', `flood:${count}`);
  // Encryption adds a third to the size.
  const flood = await deployment.redis.keys('{p7}:media:flood:*');
  expect([flood.length > 20, flood.length < 32]).toEqual([true, true]);
  // Storing the same image again costs nothing, and each person has a separate quota.
  await keep('another', 'other:0');
  await keep('somebody', 'flood:39');
  await keep('somebody', 'flood:38');
  const names = ['flood:0', 'flood:38', 'flood:39', 'other:0'];
  expect((await store.read(7, names)).map((one) => one !== undefined)).toEqual([false, true, true, true]);
  expect(await deployment.redis.keys('{p7}:media:flood:*')).toHaveLength(flood.length);
  // An entry larger than the whole quota is refused and evicts nothing.
  const whole = { partition: 7, personId: asPersonId('somebody'), isSignedIn: true, mediaId: 'whole' };
  expect(await store.storeText(whole, 'x'.repeat(32 * MIB_BYTES))).toEqual({ isStored: false, evictedCount: 0 });
  expect(await deployment.redis.keys('{p7}:media:flood:*')).toHaveLength(flood.length);
});

test('media of one person is limited to 128 MiB across all partitions', async () => {
  const store = new MediaStore(deployment.redis, testKeyRing());
  const image = { dataUrl: `data:image/png;base64,${'A'.repeat(MIB_BYTES)}` };
  const personId = asPersonId('everywhere');
  for (let count = 0; count < 128; count += 1)
    await store.storeImage({ partition: count % 64, personId, isSignedIn: true, mediaId: `spread:${count}` }, image);
  const spread = await deployment.redis.keys('{p*}:media:spread:*');
  expect([spread.length > 40, spread.length <= 64]).toEqual([true, true]);
  const again = { partition: 63, personId, isSignedIn: true, mediaId: 'later' };
  expect(await store.storeText(again, image.dataUrl)).toEqual({ isStored: false, evictedCount: 0 });
  // The counter expires, like the stored media.
  const shares = await deployment.redis.keys('{person:*}:media-bytes');
  for (const share of shares) expect(await deployment.redis.pttl(share)).toBeGreaterThan(0);
  expect(await store.storeText({ ...again, personId: asPersonId('another') }, image.dataUrl)).toMatchObject({
    isStored: true,
  });
});

test('media of one person is limited in number of entries, however small they are', async () => {
  const store = new MediaStore(deployment.redis, testKeyRing());
  const personId = asPersonId('collector');
  for (let count = 0; count < 320; count += 1)
    await store.storeImage(
      { partition: 8, personId, isSignedIn: true, mediaId: `small:${count}` },
      { fault: 'broken' },
    );
  const [first, last] = await store.read(8, ['small:0', 'small:319']);
  expect([first, last]).toEqual([undefined, { fault: 'broken' }]);
  expect(await deployment.redis.keys('{p8}:media:small:*')).toHaveLength(300);
});

test('with optional sign-in, all people who are not signed in share 40 MB, and each image still serves its own question', async () => {
  await deployment.redis.flushall();
  await deployment.stopBot();
  await deployment.startBot({ SIGN_IN: 'optional' });
  const picture = await noisePicture(400, 300).png().toBuffer();
  const message = await driver().send('emma.clarke', { text: 'what is this?', images: [picture] });
  expect((await driver().waitForAnswer(message.id)).text).toMatch(/400|300/);
  const share = '{media}:unlinked-bytes';
  const [name = ''] = await kept();
  expect(Number(await deployment.redis.get(share))).toBe(await deployment.redis.strlen(name));

  const store = new MediaStore(deployment.redis, testKeyRing());
  const image = { dataUrl: `data:image/png;base64,${'A'.repeat(MIB_BYTES)}` };
  // The second round runs after the counter has restarted while the earlier images are still stored.
  for (const round of [1, 2]) {
    for (let person = 0; person < 40; person += 1)
      await store.storeImage(
        { partition: person, personId: asPersonId(`p${person}`), isSignedIn: false, mediaId: `${round}` },
        image,
      );
    expect(await deployment.redis.pttl(share)).toBeGreaterThan(0);
    if (round === 1) await deployment.redis.del(share);
  }
  const sizes = await Promise.all((await kept()).map((key) => deployment.redis.strlen(key)));
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  expect([bytes > 20 * MIB_BYTES, bytes <= 40_000_000]).toEqual([true, true]);
  // A signed-in person has a separate quota.
  await store.storeImage({ partition: 1, personId: asPersonId('known'), isSignedIn: true, mediaId: 'own' }, image);
  expect(await store.read(1, ['own'])).toEqual([image]);

  const last = await driver().send('emma.clarke', { text: 'and what is this?', images: [picture] });
  expect((await driver().waitForAnswer(last.id)).text).toMatch(/400|300/);
});
