import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { freePort } from '../../src/bot/app/local/embedded-redis.ts';
import { findChromium, launchChromium } from '../support/chromium.ts';
import { startParleyProcess, type ParleyProcess } from '../support/parley-process.ts';
import { openPrintedPage, PAGE_IS_UP } from '../support/printed-page.ts';

const describeInBrowser = findChromium() === undefined ? describe.skip : describe;

/** `MESSENGER_PROTOCOL=slack npm start`, in its own process, used by a person in a browser. */
describeInBrowser('the local Slack simulator in a browser', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'parley-slack-browser-'));
  let parley: ParleyProcess;
  let browser: Browser;
  let page: Page;

  beforeAll(async () => {
    const [bot, service, messenger] = [await freePort(), await freePort(), await freePort()];
    const env = {
      MESSENGER_PROTOCOL: 'slack',
      PORT: String(bot),
      SERVICE_PORT: String(service),
      MESSENGER_PORT: String(messenger),
      DATA_DIR: dataDir,
      LOG_FORMAT: 'json',
    };
    parley = await startParleyProcess({ env, until: PAGE_IS_UP });
    browser = await launchChromium();
    page = await (await browser.newContext({ viewport: { width: 1_200, height: 850 } })).newPage();
    await page.goto((await openPrintedPage(parley.output())).address);
    await page.getByRole('combobox', { name: 'Signed in as' }).selectOption('emma.clarke');
    await conversation('private').click();
  }, 60_000);
  afterAll(async () => {
    await browser.close();
    parley.kill('SIGTERM');
    await parley.ended;
    rmSync(dataDir, { recursive: true, force: true });
  }, 60_000);

  const conversation = (kind: string) =>
    page.getByRole('navigation', { name: 'Conversations' }).locator(`[data-kind=${kind}]`).first();
  const answers = () => page.getByRole('log', { name: 'Messages' }).locator('li[data-sender=bot]');
  const finalAnswer = (text: RegExp) =>
    answers().and(page.locator('[data-state=final]')).filter({ hasText: text }).last().waitFor({ timeout: 30_000 });
  async function send(text: string): Promise<void> {
    await page.getByRole('textbox', { name: 'Message' }).fill(text);
    await page.getByRole('button', { name: 'Send' }).click();
  }

  test('answers a person who asks, signs in with Slack, logs in with the displayed account, and confirms [proof-of-person]', async () => {
    const firstRun = await page.locator('.first-run').innerText();
    await send('count to 40');
    await answers().locator('a[href*="/link/"]').click();
    const frame = page.frameLocator('iframe[title="In-app browser"]');
    await frame.getByRole('button', { name: /continue/i }).click();
    await frame.getByText('You are signed in to Slack as Emma Clarke').waitFor({ timeout: 15_000 });
    await frame.getByRole('button', { name: 'Allow' }).click();
    await frame.locator('input[name=password]').waitFor({ timeout: 15_000 });
    const [username = '', password = ''] = await page.locator('.login-hint dd').allInnerTexts();
    expect(firstRun).toContain(password);
    await frame.locator('input[name=username]').fill(username);
    await frame.locator('input[name=password]').fill(password);
    await frame.getByRole('button', { name: /sign in/i }).click();
    for (const name of [/allow/i, /connect|confirm|yes/i])
      await frame.getByRole('button', { name }).first().click({ timeout: 15_000 });
    await finalAnswer(/Emma Clarke/);
    await finalAnswer(/\b39 40\b/);
    expect(await answers().count()).toBe(2);
  }, 90_000);

  test('answers a reply in the thread of an answer in that thread', async () => {
    await answers().first().hover();
    await page.getByRole('button', { name: 'Reply in thread' }).click();
    await send('count to 6');
    await finalAnswer(/^\s*1 2 3 4 5 6\s*$/);
    expect(await answers().last().locator('.in-thread').getAttribute('aria-label')).toMatch(/^Thread/);
  }, 60_000);

  test('ends a growing answer in a channel on Stop', async () => {
    await conversation('group').click();
    await send('@Parley count to 400');
    await answers().and(page.locator('[data-state=streaming]')).filter({ hasText: /\b9\b/ }).last().waitFor();
    await page.getByRole('button', { name: 'Stop' }).last().click();
    await finalAnswer(/^\s*1 2 3/);
    expect(await answers().last().innerText()).not.toContain(' 400');
  }, 60_000);
});
