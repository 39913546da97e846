// Takes the screenshot of answers with their sources from a running local mode: npm start in one terminal, node
// scripts/take-knowledge-picture.mjs in another; PICTURES_IN=zh takes that of the Chinese pages. MESSENGER_URL is the
// address that npm start printed; a member of staff and a student must not have signed in yet. Both ask the same question
// and are shown side by side.
import sharp from 'sharp';
import { answered, isChinese, openAs, OUT, send, settled, signIn, withPage } from './pictures/messenger-page.mjs';

const WIDTH = 640;
const HEIGHT = 355;
const GAP = 20;
const ASKERS = isChinese ? ['chenguodong', 'linxiaoyu'] : ['emma.clarke', 'daniel.okoye'];
const HELLO = isChinese ? '你好' : 'Hello';
const QUESTIONS = isChinese ? ['我可以借多少册图书？', '来源'] : ['How many books may I borrow?', '/sources'];

const shots = [];
for (const person of ASKERS)
  await withPage({ viewport: { width: 960, height: 760 } }, async (page) => {
    await openAs(page, person);
    await send(page, HELLO);
    await page.locator('a[href*="/link/"]').waitFor();
    await signIn(page);
    await answered(page, 1);
    for (const [index, text] of QUESTIONS.entries()) {
      await send(page, text);
      await answered(page, index + 2);
    }
    await page.getByRole('textbox', { name: 'Message' }).blur();
    await settled(page);
    const { x, width } = await page.getByRole('log', { name: 'Messages' }).boundingBox();
    const { y, height } = await page.locator('.messages').boundingBox();
    const shot = await page.screenshot({ clip: { x, y: y + height - HEIGHT, width, height: HEIGHT } });
    shots.push(await sharp(shot).resize(WIDTH, HEIGHT, { fit: 'contain', background: '#ffffff' }).toBuffer());
  });

const [left, right] = shots;
await sharp({ create: { width: 2 * WIDTH + GAP, height: HEIGHT, channels: 3, background: '#ffffff' } })
  .composite([
    { input: left, left: 0, top: 0 },
    { input: right, left: WIDTH + GAP, top: 0 },
  ])
  .png({ palette: true, colours: 128, compressionLevel: 9, effort: 10 })
  .toFile(`${OUT}/knowledge.png`);
