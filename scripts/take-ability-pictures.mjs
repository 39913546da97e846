// Takes the screenshots of docs/guide/USING.md from a running local mode: npm start in one terminal, node
// scripts/take-ability-pictures.mjs in another; PICTURES_IN=zh takes those of the Chinese page. MESSENGER_URL is the address
// that npm start printed; Daniel or 陈国栋 must not have signed in yet.
import sharp from 'sharp';
import { answered, isChinese, openAs, OUT, send, signIn, withPage } from './pictures/messenger-page.mjs';

const MARGIN_PX = 16;
const inLanguage = (en, zh) => (isChinese ? zh : en);

/** The conversation without the list beside it, in few colors, so that four screenshots do not slow down the page. */
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
  await openAs(page, inLanguage('daniel.okoye', 'chenguodong'));
  await send(page, inLanguage('hello', '你好'));
  await page.locator('a[href*="/link/"]').waitFor();
  await signIn(page);
  await answered(page, (count += 1));

  await ask(inLanguage('/model', '/模型'));
  await ask(inLanguage('/model svc-max', '/模型 svc-max'));
  await ask(inLanguage('/think high', '/思考 高'));
  await ask(inLanguage('/lang', '/语言'));
  await take(page, 'words.png');

  await ask(inLanguage('How do I stop an answer that is being written?', '怎么停止正在生成的回答？'));
  await page.locator('details.thinking summary').last().click();
  await take(page, 'thinking.png');

  await ask(inLanguage('/think off', '/思考 关'));
  await ask(inLanguage('Do you know who I am?', '你知道我是谁吗？'));
  await ask(inLanguage('What time is it in Shanghai?', '上海现在几点？'));
  await take(page, 'tools.png');

  await ask(inLanguage('/model svc-plus', '/模型 svc-plus'));
  await page.locator('input[type=file]').setInputFiles(['docs/pictures/group-dark.png', `${OUT}/sign-in.png`]);
  await page.locator('.attachment img').nth(1).waitFor();
  await page.waitForTimeout(1_000);
  await ask(inLanguage('What are these two pictures?', '这两张图片是什么？'));
  await take(page, 'images.png');
});
