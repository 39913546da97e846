import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { freePort } from '../../src/bot/app/local/embedded-redis.ts';
import { findChromium, launchChromium } from '../support/chromium.ts';
import { startParleyProcess, type ParleyProcess } from '../support/parley-process.ts';
import { openPrintedPage, PAGE_IS_UP } from '../support/printed-page.ts';

const describeInBrowser = findChromium() === undefined ? describe.skip : describe;

/** Local mode as `npm start` runs it, in its own process, used by people in a browser. */
describeInBrowser('local mode in a browser', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'parley-browser-'));
  let env: Record<string, string>;
  let parley: ParleyProcess;
  let browser: Browser;
  let url: string;

  beforeAll(async () => {
    const [bot, service, messenger] = [await freePort(), await freePort(), await freePort()];
    env = {
      PORT: String(bot),
      SERVICE_PORT: String(service),
      MESSENGER_PORT: String(messenger),
      DATA_DIR: dataDir,
      LOG_FORMAT: 'json',
    };
    parley = await startParleyProcess({ env, until: PAGE_IS_UP });
    url = (await openPrintedPage(parley.output())).address;
    browser = await launchChromium();
  }, 60_000);
  afterAll(async () => {
    await browser.close();
    parley.kill('SIGTERM');
    await parley.ended;
    rmSync(dataDir, { recursive: true, force: true });
  }, 60_000);

  /** Opens a tab in which a person uses the simulator. */
  async function openAs(person: string, context?: BrowserContext): Promise<Page> {
    const page = await (context ?? (await browser.newContext())).newPage();
    await page.goto(url);
    await page.getByRole('combobox', { name: 'Signed in as' }).selectOption(person);
    await conversations(page).locator('[data-kind=private]').click();
    return page;
  }
  const conversations = (page: Page) => page.getByRole('navigation', { name: 'Conversations' });
  const messages = (page: Page) => page.getByRole('log', { name: 'Messages' });
  const answers = (page: Page) => messages(page).locator('[role=listitem][data-sender=bot], li[data-sender=bot]');
  async function send(page: Page, text: string): Promise<void> {
    await page.getByRole('textbox', { name: 'Message' }).fill(text);
    await page.getByRole('button', { name: 'Send' }).click();
  }
  const finalAnswer = (page: Page, text: string | RegExp) =>
    answers(page).and(page.locator('[data-state=final]')).filter({ hasText: text }).last().waitFor({ timeout: 30_000 });

  /** Follows the link of the last invitation in the in-app browser and presses a button on each page. */
  async function goThrough(page: Page, names: RegExp[]): Promise<void> {
    await messages(page).locator('a[href*="/link/"]').last().click({ timeout: 20_000 });
    const frame = page.frameLocator('iframe[title="In-app browser"]');
    for (const name of names) await frame.getByRole('button', { name }).first().click({ timeout: 15_000 });
    await page.locator('.in-app').waitFor({ state: 'detached', timeout: 20_000 });
  }
  /** The bot's closing page closes the browser itself. */
  const signIn = (page: Page) => goThrough(page, [/continue/i, /allow/i, /connect|confirm/i]);

  test.each([
    ['en-GB', 'zhangwei', /^Hello, I am Parley/],
    ['zh-CN', 'daniel.okoye', /^你好，我是 Parley/],
  ])(
    'greets a person who has not written yet in the language of the page: %s',
    async (locale, person, greeting) => {
      const page = await (await browser.newContext({ locale })).newPage();
      await page.goto(url);
      await page.getByRole('combobox').selectOption(person);
      await page.locator('[data-kind=private]').click();
      await page.locator('.card-text').filter({ hasText: greeting }).waitFor({ timeout: 20_000 });
    },
    90_000,
  );

  test('answers the question after the person signs in inside the app without a password', async () => {
    const page = await openAs('emma.clarke');
    await send(page, 'count to 60');
    await messages(page).locator('a[href*="/link/"]').waitFor({ timeout: 20_000 });
    expect(await page.locator('input[type=password]').count()).toBe(0);
    await signIn(page);
    await finalAnswer(page, /\b59 60\b/);
    expect(await answers(page).count()).toBe(1);
  }, 90_000);

  test('returns a person who declines to the chat by the button on the page', async () => {
    const page = await openAs('linxiaoyu');
    await send(page, 'count to 4');
    await goThrough(page, [/continue/i, /allow/i, /no, cancel/i, /back to the chat/i]);
    expect(await answers(page).filter({ hasText: '1 2 3 4' }).count()).toBe(0);
  }, 90_000);

  test('shows an answer in at least three steps, and Stop keeps the text so far', async () => {
    const page = await openAs('emma.clarke');
    await send(page, 'count to 300');
    const answer = answers(page).and(page.locator('[data-state=streaming]')).last();
    const lengths = new Set<number>();
    for (let tries = 0; tries < 60 && lengths.size < 3; tries += 1) {
      lengths.add((await answer.innerText()).length);
      await page.waitForTimeout(200);
    }
    expect(lengths.size).toBeGreaterThanOrEqual(3);
    await page.getByRole('button', { name: 'Stop' }).last().click();
    await finalAnswer(page, /Stopped\./);
    expect(await answers(page).filter({ hasText: ' 299 300' }).count()).toBe(0);
  }, 90_000);

  test('answers a mention in a group, ignores messages without one, and shows both to the other member', async () => {
    const emma = await openAs('emma.clarke');
    const daniel = await openAs('daniel.okoye');
    for (const page of [emma, daniel])
      await conversations(page)
        .getByRole('button', { name: /Studio 3/ })
        .click();
    await send(emma, 'count to 4, anybody?');
    const botName = await emma.locator('[data-bot-name]').first().getAttribute('data-bot-name');
    await send(emma, `@${botName ?? ''} count to 5`);
    await finalAnswer(daniel, /1 2 3 4 5/);
    expect(await answers(daniel).count()).toBe(1);
  }, 90_000);

  test('keeps the conversation and the sign-in across a restart', async () => {
    parley.kill('SIGTERM');
    expect(await parley.ended).toBe(0);
    const startedMs = Date.now();
    parley = await startParleyProcess({ env, until: /Parley (?:is running|has started)/ });
    expect(Date.now() - startedMs).toBeLessThan(60_000);
    const page = await openAs('emma.clarke');
    await finalAnswer(page, /\b59 60\b/);
    await send(page, '/whoami');
    await finalAnswer(page, /Emma Clarke/);
  }, 90_000);
});
