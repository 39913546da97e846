import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { MIB_BYTES } from '../../src/shared/clock.ts';
import { freePort } from '../../src/bot/app/local/embedded-redis.ts';
import { findChromium, launchChromium } from '../support/chromium.ts';
import { startParleyProcess, type ParleyProcess } from '../support/parley-process.ts';
import { openPrintedPage, PAGE_IS_UP } from '../support/printed-page.ts';

const describeInBrowser = findChromium() === undefined ? describe.skip : describe;

const handbook = join(import.meta.dirname, '../bot/knowledge/documents/files/handbook.pdf');
const cake = { name: 'cake.txt', text: 'The cake of the canteen takes seven eggs and a lemon.' };
const soup = { name: 'soup.md', text: '# Soup\n\nThe soup of the canteen takes nine leeks.' };

/** `npm start` in its own process, with the built page, used by a person in a browser. */
describeInBrowser.each(['wecom', 'slack'] as const)('files in the browser simulator as %s', (protocol) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'parley-files-browser-'));
  let parley: ParleyProcess;
  let browser: Browser;
  let page: Page;

  beforeAll(async () => {
    const [bot, service, messenger] = [await freePort(), await freePort(), await freePort()];
    const env = {
      MESSENGER_PROTOCOL: protocol,
      PORT: String(bot),
      SERVICE_PORT: String(service),
      MESSENGER_PORT: String(messenger),
      DATA_DIR: dataDir,
      LOG_FORMAT: 'json',
      SIGN_IN: 'off',
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
  const rows = () => page.getByRole('log', { name: 'Messages' }).locator('li');
  const finalAnswer = (text: RegExp) =>
    rows()
      .and(page.locator('[data-sender=bot][data-state=final]'))
      .filter({ hasText: text })
      .last()
      .waitFor({ timeout: 60_000 });
  const attached = () => page.locator('.attachments .file-name').allInnerTexts();
  async function send(text: string): Promise<void> {
    await page.getByRole('textbox', { name: 'Message' }).fill(text);
    await page.getByRole('button', { name: 'Send' }).click();
  }

  /** Attaches a file by the button. Passes a path, since Playwright would send the bytes of a large file as text. */
  async function attach(path: string): Promise<void> {
    const dialog = page.waitForEvent('filechooser');
    await page.getByRole('button', { name: 'Add files' }).click();
    await (await dialog).setFiles(path);
  }

  function fileOf(name: string, sizeBytes: number): string {
    const path = join(dataDir, name);
    writeFileSync(path, Buffer.alloc(sizeBytes, 'words '));
    return path;
  }

  /** Drags files over the conversation and drops them. */
  async function drop(...files: { name: string; text: string }[]): Promise<void> {
    const made = `(() => { const carried = new DataTransfer();
      for (const { name, text } of ${JSON.stringify(files)}) carried.items.add(new File([text], name));
      return carried; })()`;
    const dataTransfer = await page.evaluateHandle(made);
    const pane = page.locator('main.pane');
    await pane.dispatchEvent('dragover', { dataTransfer });
    await page.locator('main.drop-over').waitFor();
    await pane.dispatchEvent('drop', { dataTransfer });
  }

  test('shows a file chosen by the button with name and size, sends it, and gets an answer about it', async () => {
    await attach(handbook);
    await page.locator('.attachments .file-chip').waitFor();
    expect(await attached()).toEqual(['handbook.pdf']);
    await send('');
    await finalAnswer(/I have read “handbook\.pdf” \(12 pages\)/);
    expect(await rows().locator('.file-chip').allInnerTexts()).toEqual([
      expect.stringMatching(/handbook\.pdf\s*\d+ KB/),
    ]);
    expect(await attached()).toEqual([]);
    await send('What does chapter 7 of the handbook say?');
    await finalAnswer(/handbook\.pdf.*page 7/s);
  }, 60_000);

  test('rejects a file that is too large for the app, and the bot refuses one that is too large for it', async () => {
    await attach(fileOf('huge.txt', 25 * MIB_BYTES + 1));
    await page.getByText('Files can be at most 25 MB.').waitFor();
    expect(await attached()).toEqual([]);
    await attach(fileOf('large.txt', 21 * MIB_BYTES));
    await page.locator('.attachments .file-chip').waitFor({ timeout: 30_000 });
    await send('');
    // WeCom sends a file's name only with its bytes.
    await finalAnswer(protocol === 'wecom' ? /“the file” is larger than 20 MB/ : /“large\.txt” is larger than 20 MB/);
  }, 120_000);

  // What follows concerns the page, which is the same for both platforms, or WeCom only.
  if (protocol === 'slack') return;

  test('sends several dropped files with the typed question, except one that was removed', async () => {
    await drop(cake, soup, { name: 'private.txt', text: 'nobody’s business' });
    await page.locator('.attachments .file-chip').nth(2).waitFor();
    await page.getByRole('button', { name: 'Remove file private.txt' }).click();
    expect(await attached()).toEqual(['cake.txt', 'soup.md']);
    await send('How many eggs takes the cake of the canteen?');
    await finalAnswer(/cake\.txt.*seven eggs/s);
    await send('How many leeks takes the soup of the canteen?');
    await finalAnswer(/soup\.md.*nine leeks/s);
    expect(await rows().filter({ hasText: 'private.txt' }).count()).toBe(0);
  }, 60_000);

  test('refuses an unreadable file by its name and lists the readable formats', async () => {
    await drop({ name: 'song.mp3', text: 'ID3 la la la' });
    await page.locator('.attachments .file-chip').waitFor();
    await send('');
    await finalAnswer(/I cannot read “song\.mp3”\. Supported formats: PDF, Word/);
  }, 60_000);

  test('explains in a WeCom group that a file must be quoted, and answers about a quoted one', async () => {
    await conversation('group').click();
    await drop(cake);
    await page.getByText('In a group the bot receives a file only if a message to the bot quotes it.').waitFor();
    await page.locator('.attachments .file-chip').waitFor();
    await send('');
    const file = rows()
      .filter({ has: page.locator('.file-chip') })
      .last();
    await file.hover();
    await file.getByRole('button', { name: 'Quote' }).click();
    expect(await page.locator('.quote-tray .quote-text').innerText()).toBe('cake.txt');
    await send('@Parley How many eggs takes the cake of the canteen?');
    await finalAnswer(/cake\.txt.*seven eggs/s);
  }, 60_000);
});
