import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { html } from '../../src/shared/text/html.ts';
import { BROWSER_WAIT_MS } from './chromium.ts';
import { screenAfter } from './terminal-screen.ts';

/** Where the pictures of a walk are written; none by default. */
const PICTURES = process.env['WALK_PICTURES_DIR'];
/** Whether every walk is taken in both languages, as for pictures. */
export const TAKES_PICTURES = PICTURES !== undefined;
/** Enough for animations to end. */
const SETTLED_MS = 600;
const MAX_PAGES = 8;
const MARK_FORMS = "for (const form of document.forms) form.dataset.seen = ''";
export const ANY_TEXT = /\p{L}/u;

export const PHONE: BrowserContextOptions = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
export const DESK: BrowserContextOptions = { viewport: { width: 1_200, height: 850 } };

interface Walker {
  /** The messenger's address. */
  address: string;
  /** Typed where the sign-in service asks for it. */
  login?: { username: string; password: string };
  options: BrowserContextOptions;
}

/** One person who uses the messenger in a browser, with pictures on the way. */
export class WalkPage {
  readonly page: Page;
  readonly #walker: Walker;

  private constructor(page: Page, walker: Walker) {
    this.page = page;
    this.#walker = walker;
  }

  static async open(browser: Browser, walker: Walker): Promise<WalkPage> {
    const context = await browser.newContext({ timezoneId: 'Asia/Shanghai', ...walker.options });
    context.setDefaultTimeout(2 * BROWSER_WAIT_MS);
    const page = await context.newPage();
    await page.goto(walker.address);
    return new WalkPage(page, walker);
  }

  async openChat(kind: 'private' | 'group'): Promise<void> {
    await this.page.getByRole('navigation', { name: 'Conversations' }).locator(`[data-kind=${kind}]`).first().click();
  }

  async send(text: string): Promise<void> {
    await this.page.getByRole('textbox', { name: 'Message' }).fill(text);
    await this.page.getByRole('button', { name: 'Send' }).click();
  }

  /** Attaches a file by the button for images. */
  async attach(path: string): Promise<void> {
    const chooser = this.page.waitForEvent('filechooser');
    await this.page.locator('.composer-tools button').first().click();
    await (await chooser).setFiles(path);
    await this.page.locator('.attachment:not(:has(.uploading))').waitFor();
  }

  async answered(text: string | RegExp): Promise<void> {
    await this.#answer(text, 'final').waitFor();
  }

  async growing(text: string): Promise<void> {
    await this.#answer(text, 'streaming').waitFor();
  }

  #answer(text: string | RegExp, state: 'streaming' | 'final'): Locator {
    const answers = this.page
      .getByRole('log', { name: 'Messages' })
      .locator(`li[data-sender=bot][data-state=${state}]`);
    return answers.filter({ hasText: text }).last();
  }

  /** Follows the newest sign-in link and agrees on each page. @param picture name of the pictures of the pages */
  async signIn(picture: string): Promise<void> {
    await this.page.locator('a[href*="/link/"]').last().click();
    const frame = this.page.frameLocator('.in-app iframe');
    const panel = this.page.locator('.in-app');
    await panel.waitFor();
    // The last page closes itself after a few seconds; a slow machine may not see it.
    const closed = panel.waitFor({ state: 'detached' });
    const done = Promise.race([panel.locator('.in-app-done', { hasText: ANY_TEXT }).waitFor(), closed]);
    for (let count = 1; count <= MAX_PAGES; count += 1) {
      // A page that was seen has a mark.
      const form = frame.locator('form[method=post]:not([data-seen])').first();
      const shown = form.locator('button').first().waitFor();
      const isDone = await Promise.race([shown.then(() => false), done.then(() => true)]);
      await this.picture(`${picture}-${count}`);
      if (isDone) return Promise.race([panel.locator('.in-app-bar button').click(), closed]);
      const password = form.locator('input[name=password]');
      if ((await password.count()) > 0) {
        await form.locator('input[name=username]').fill(this.#walker.login?.username ?? '');
        await password.fill(this.#walker.login?.password ?? '');
      }
      const document = this.page.frames().find((each) => each.parentFrame() !== null);
      await document?.evaluate(MARK_FORMS);
      await frame.locator('form[method=post][data-seen] button').first().click();
    }
    throw new Error('The way through the sign-in pages did not come to an end');
  }

  /** Whether something on the page is wider than the window. */
  async isWiderThanWindow(): Promise<boolean> {
    return this.page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth');
  }

  async picture(name: string): Promise<void> {
    if (PICTURES === undefined) return;
    await this.page.waitForTimeout(SETTLED_MS);
    await this.page.screenshot({ path: pathOf(PICTURES, name) });
  }

  async close(): Promise<void> {
    await this.page.context().close();
  }
}

/** Takes a picture of what a program has left at the terminal. */
export async function pictureOfTerminal(browser: Browser, name: string, output: string): Promise<void> {
  if (PICTURES === undefined) return;
  const page = await browser.newPage({ viewport: { width: 1_000, height: 100 } });
  const shown = html`<pre style="font: 14px monospace; white-space: pre-wrap">${screenAfter(output)}</pre>`;
  await page.setContent(String(shown));
  await page.screenshot({ path: pathOf(PICTURES, name), fullPage: true });
  await page.close();
}

function pathOf(folder: string, name: string): string {
  mkdirSync(folder, { recursive: true });
  return join(folder, `${name}.png`);
}
