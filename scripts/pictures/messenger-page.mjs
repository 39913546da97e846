// The messenger in a browser, for the screenshot scripts.
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import sharp from 'sharp';

/** The address that `npm start` printed, with its token. */
export const URL_OF_MESSENGER = process.env.MESSENGER_URL;
if (!URL_OF_MESSENGER) throw new Error('Set MESSENGER_URL to the address that npm start printed');
const FLAGS = ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-sync'];
const executablePath = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium';
/** Language of the pages that the screenshots are for: Chinese with PICTURES_IN=zh. */
export const isChinese = process.env.PICTURES_IN === 'zh';
export const OUT = isChinese ? 'docs/pictures/zh-CN' : 'docs/pictures';

/** Runs `use` with a page of a new profile. */
export async function withPage(options, use) {
  const context = await chromium.launchPersistentContext(mkdtempSync(join(tmpdir(), 'parley-pictures-')), {
    executablePath,
    args: FLAGS,
    headless: true,
    viewport: { width: 1200, height: 850 },
    timezoneId: 'Asia/Shanghai',
    locale: isChinese ? 'zh-CN' : 'en-US',
    ...options,
  });
  try {
    await use(await context.newPage());
  } finally {
    await context.close();
  }
}

/** Opens a person's first private chat, or a group whose name contains `name`. */
export async function openAs(page, person, kind = 'private', name = '') {
  await page.goto(URL_OF_MESSENGER);
  await page.getByRole('combobox', { name: 'Signed in as' }).selectOption(person);
  const chats = page.getByRole('navigation', { name: 'Conversations' }).locator(`[data-kind=${kind}]`);
  await chats.filter({ hasText: name }).first().click();
}

/** Writes a message and sends it. */
export async function send(page, text) {
  await page.getByRole('textbox', { name: 'Message' }).fill(text);
  await page.getByRole('button', { name: 'Send' }).click();
}

const answers = (page) => page.getByRole('log', { name: 'Messages' }).locator('[data-sender=bot]');
/** Waits until this number of answers are complete. */
export const answered = (page, count) =>
  answers(page)
    .and(page.locator('[data-state=final]'))
    .nth(count - 1)
    .waitFor();

/** Follows the newest invitation's link and consents; `picture` is the file name for the first page. */
export async function signIn(page, picture) {
  await page.locator('a[href*="/link/"]').last().click();
  const frame = page.frameLocator('iframe');
  for (let step = 0; step < 3; step += 1) {
    const button = frame.locator('form[method=post] button').first();
    await button.waitFor();
    if (step === 0 && picture) {
      await page.mouse.move(0, 0);
      await page.waitForTimeout(600);
      await page.screenshot({ path: `${OUT}/${picture}` });
    }
    await button.click();
    await page.waitForTimeout(700);
  }
  // The in-app browser closes automatically at the end.
  await page.locator('iframe').waitFor({ state: 'detached' });
}

/** Waits until all animations have ended, with the pointer away from all elements. */
export async function settled(page) {
  await page.mouse.move(0, 0);
  await page.waitForTimeout(1_000);
}

/** Reduces screenshots to the colors that they need, to a third of the bytes. Defaults to all. */
export async function makeSmall(names = readdirSync(OUT)) {
  for (const name of names.filter((one) => one.endsWith('.png'))) {
    const whole = readFileSync(`${OUT}/${name}`);
    const small = await sharp(whole).png({ palette: true, effort: 10 }).toBuffer();
    if (small.length < whole.length) writeFileSync(`${OUT}/${name}`, small);
  }
}
