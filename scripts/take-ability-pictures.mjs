// Takes the pictures of README's "What it can do" from a running local mode: npm start in one terminal,
// node scripts/take-ability-pictures.mjs in another. MESSENGER_PORT is 8082 unless told; Daniel has not signed in yet.
import sharp from 'sharp';
import { answered, openAs, OUT, send, signIn, withPage } from './pictures/messenger-page.mjs';

const MARGIN_PX = 16;

/** The conversation without the list beside it, in few colours: four pictures shall not make the page slow. */
async function take(page, name) {
  const composer = page.getByRole('textbox', { name: 'Message' });
  await composer.blur();
  await page.mouse.move(0, 0);
  await page.waitForTimeout(600);
  const { x, width } = await page.getByRole('log', { name: 'Messages' }).boundingBox();
  const { y, height } = await page.locator('.messages').boundingBox();
  const shot = await page.screenshot({
    clip: { x: x - MARGIN_PX, y, width: width + 2 * MARGIN_PX, height },
  });
  await sharp(shot).png({ palette: true, colours: 128, compressionLevel: 9, effort: 10 }).toFile(`${OUT}/${name}`);
}

await withPage({ viewport: { width: 1000, height: 760 } }, async (page) => {
  let count = 0;
  const ask = async (text) => {
    await send(page, text);
    await answered(page, (count += 1));
  };
  await openAs(page, 'daniel.okoye');
  await send(page, 'hello');
  await page.locator('a[href*="/link/"]').waitFor();
  await signIn(page);
  await answered(page, (count += 1));

  await ask('/model');
  await ask('/model svc-max');
  await ask('/think high');
  await ask('/lang');
  await take(page, 'words.png');

  await ask('How do I stop an answer that is being written?');
  await page.locator('details.thinking summary').last().click();
  await take(page, 'thinking.png');

  await ask('/think off');
  await ask('Do you know who I am?');
  await ask('What time is it in Shanghai?');
  await take(page, 'tools.png');

  await ask('/model svc-plus');
  await page.locator('input[type=file]').setInputFiles([`${OUT}/group-dark.png`, `${OUT}/sign-in.png`]);
  await page.locator('.attachment img').nth(1).waitFor();
  await page.waitForTimeout(1_000);
  await ask('What are these two pictures?');
  await take(page, 'images.png');
});
