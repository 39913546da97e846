// Takes the screenshots of the buttons below an answer and of a file with its answer from a running local mode that
// simulates Slack: MESSENGER_PROTOCOL=slack SLACK_REPLY=edit SIGN_IN=off npm start in one terminal, node
// scripts/take-chat-pictures.mjs in another; PICTURES_IN=zh takes those of the Chinese page. MESSENGER_URL is the address
// that npm start printed; the chats must be empty.
import sharp from 'sharp';
import { answered, isChinese, makeSmall, openAs, OUT, send, settled, withPage } from './pictures/messenger-page.mjs';

/** High enough to show everything without scrolling. */
const VIEWPORT = { width: 986, height: 1_000 };
const HEIGHT = 540;
const SAYS = isChinese
  ? {
      presses: ['chenguodong', '图书馆周末几点开门？', '慢慢数到 60'],
      asksAboutFile: ['linxiaoyu', '你好', 'examples/documents/campus/图书馆指南.md', '周末的开放时间是几点到几点？'],
    }
  : {
      presses: ['emma.clarke', 'When does the library open at weekends?', 'count slowly to 60'],
      asksAboutFile: [
        'daniel.okoye',
        'Hello',
        'test/bot/knowledge/documents/files/handbook.pdf',
        'How long are loans in chapter 7?',
      ],
    };

/** The chat from this message on. */
async function takeFrom(page, first, name) {
  await page.getByRole('textbox', { name: 'Message' }).blur();
  await settled(page);
  const { y } = await page.getByRole('log', { name: 'Messages' }).getByRole('listitem').nth(first).boundingBox();
  const { x, width, y: top, height } = await page.locator('.messages').boundingBox();
  const clip = { x, y, width, height: Math.min(HEIGHT, top + height - y) };
  const shot = await page.screenshot({ clip });
  const bounds = { width: Math.round(width), height: HEIGHT, fit: 'contain', position: 'top', background: '#ffffff' };
  await sharp(shot).resize(bounds).toFile(`${OUT}/${name}`);
}

await withPage({ viewport: VIEWPORT }, async (page) => {
  const [person, question, long] = SAYS.presses;
  await openAs(page, person);
  await send(page, question);
  await answered(page, 1);
  await page.locator('.bot-buttons').first().waitFor();
  await send(page, long);
  await page.locator('[data-state=streaming] .bot-buttons').waitFor();
  await page.waitForTimeout(3_000);
  await takeFrom(page, 0, 'buttons.png');
  await page.locator('[data-state=streaming] .bot-buttons button').first().click();
  await answered(page, 2);
});

await withPage({ viewport: VIEWPORT }, async (page) => {
  const [person, hello, file, question] = SAYS.asksAboutFile;
  await openAs(page, person);
  await send(page, hello);
  await answered(page, 1);
  await page.locator('input[type=file]').setInputFiles([file]);
  await page.waitForTimeout(1_000);
  await page.getByRole('button', { name: 'Send' }).click();
  await answered(page, 2);
  await send(page, question);
  await answered(page, 3);
  await takeFrom(page, 2, 'files.png');
});
await makeSmall(['buttons.png', 'files.png']);
