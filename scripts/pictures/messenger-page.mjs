// The messenger in a browser, for the scripts that take pictures of it.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';

/** Where the messenger of the running local mode is. */
export const URL_OF_MESSENGER = `http://127.0.0.1:${process.env.MESSENGER_PORT ?? 8082}`;
const FLAGS = ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-sync'];
const executablePath = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium';
/** Whose pages the pictures are for: those in Chinese with PICTURES_IN=zh. */
export const isChinese = process.env.PICTURES_IN === 'zh';
export const OUT = isChinese ? 'docs/pictures/zh-CN' : 'docs/pictures';

/** Runs `use` with a page of a fresh profile. */
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

/** Opens the first private chat, or group, of a person. */
export async function openAs(page, person, kind = 'private') {
  await page.goto(URL_OF_MESSENGER);
  await page.getByRole('combobox', { name: 'Signed in as' }).selectOption(person);
  await page.getByRole('navigation', { name: 'Conversations' }).locator(`[data-kind=${kind}]`).first().click();
}

/** Writes a message and sends it. */
export async function send(page, text) {
  await page.getByRole('textbox', { name: 'Message' }).fill(text);
  await page.getByRole('button', { name: 'Send' }).click();
}

const answers = (page) => page.getByRole('log', { name: 'Messages' }).locator('[data-sender=bot]');
/** Waits until so many answers are whole. */
export const answered = (page, count) =>
  answers(page)
    .and(page.locator('[data-state=final]'))
    .nth(count - 1)
    .waitFor();

/** Follows the newest invitation's link and agrees; `picture` is the name of one of the first page. */
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
  // The browser closes itself when all is done.
  await page.locator('iframe').waitFor({ state: 'detached' });
}
