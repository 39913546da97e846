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

/** `npm start` in a process of its own, with the page as it is built, used by a person in a browser. */
describeInBrowser.each(['wecom', 'slack'] as const)('files in the messenger’s page, as %s', (protocol) => {
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
  }, 40_000);

  const conversation = (kind: string) =>
    page.getByRole('navigation', { name: 'Conversations' }).locator(`[data-kind=${kind}]`).first();
  const rows = () => page.getByRole('log', { name: 'Messages' }).locator('li');
  const finalAnswer = (text: RegExp) =>
    rows()
      .and(page.locator('[data-sender=bot][data-state=final]'))
      .filter({ hasText: text })
      .last()
      .waitFor({ timeout: 30_000 });
  const attached = () => page.locator('.attachments .file-name').allInnerTexts();
  async function send(text: string): Promise<void> {
    await page.getByRole('textbox', { name: 'Message' }).fill(text);
    await page.getByRole('button', { name: 'Send' }).click();
  }

  /** By the button, as from the system's dialog: a path, since the browser would be sent the bytes of a large one as text. */
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

  /** Holds files over the conversation, and lets them go. */
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

  test('a file by the button is shown by name and size, sent, read and answered about', async () => {
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

  test('several that are dropped go with the question that is typed beside them, but for one that is taken out', async () => {
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

  test('one that is too large for the app stays outside, and one that is too large for the bot is refused by it', async () => {
    await attach(fileOf('huge.txt', 25 * MIB_BYTES + 1));
    await page.getByText('Files may have at most 25 MB.').waitFor();
    expect(await attached()).toEqual([]);
    await attach(fileOf('large.txt', 21 * MIB_BYTES));
    await page.locator('.attachments .file-chip').waitFor({ timeout: 30_000 });
    await send('');
    // WeCom tells a file's name with its bytes.
    await finalAnswer(protocol === 'wecom' ? /“the file” has more than 20 MB/ : /“large\.txt” has more than 20 MB/);
  }, 60_000);

  test('one that cannot be read is refused by its name, with what can be', async () => {
    await drop({ name: 'song.mp3', text: 'ID3 la la la' });
    await page.locator('.attachments .file-chip').waitFor();
    await send('');
    await finalAnswer(/I cannot read “song\.mp3”\. I read PDF, Word/);
  }, 60_000);

  if (protocol === 'slack') return;

  test('in a WeCom group it is said that a file has to be quoted, and a quoted one is answered about', async () => {
    await conversation('group').click();
    await drop(cake);
    await page.getByText('In a group the bot gets a file only where a message to it quotes the file.').waitFor();
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
