import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { BROWSER_WAIT_MS } from './chromium.ts';

/** Where the pictures of a walk are written; none by default. */
const PICTURES = process.env['WALK_PICTURES_DIR'];
const MAX_PAGES = 8;

export interface Walker {
  /** Address of the messenger. */
  url: string;
  person: string;
  /** Typed where the sign-in service asks for it. */
  password: string;
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
    context.setDefaultTimeout(BROWSER_WAIT_MS);
    const page = await context.newPage();
    await page.goto(`${walker.url}/?person=${walker.person}`);
    return new WalkPage(page, walker);
  }

  async openChat(kind: 'private' | 'group', name = ''): Promise<void> {
    const chats = this.page.getByRole('navigation', { name: 'Conversations' }).locator(`[data-kind=${kind}]`);
    await chats.filter({ hasText: name }).first().click();
  }

  async send(text: string): Promise<void> {
    await this.page.getByRole('textbox', { name: 'Message' }).fill(text);
    await this.page.getByRole('button', { name: 'Send' }).click();
  }

  async answered(text: string | RegExp): Promise<void> {
    const answers = this.page.getByRole('log', { name: 'Messages' }).locator('li[data-sender=bot][data-state=final]');
    await answers.filter({ hasText: text }).last().waitFor();
  }

  /** Follows the newest sign-in link and agrees on each page. @param picture name of the pictures of the pages */
  async signIn(picture: string): Promise<void> {
    await this.page.locator('a[href*="/link/"]').last().click();
    const frame = this.page.frameLocator('iframe[title="In-app browser"]');
    const inApp = this.page.locator('.in-app');
    for (let count = 1; count <= MAX_PAGES; count += 1) {
      const button = frame.locator('form[method=post] button').first();
      await Promise.race([button.waitFor(), inApp.waitFor({ state: 'detached' })]);
      if ((await inApp.count()) === 0) return;
      if ((await frame.locator('input[name=password]').count()) > 0) {
        await frame.locator('input[name=username]').fill(this.#walker.person);
        await frame.locator('input[name=password]').fill(this.#walker.password);
      }
      await this.picture(`${picture}-${count}`);
      const before = await frame.locator('form[method=post]').first().getAttribute('action');
      await button.click();
      // The next page has another form, or the browser closes itself.
      const next = frame.locator(`form[method=post]:not([action="${before ?? ''}"])`).first();
      await Promise.race([next.waitFor(), inApp.waitFor({ state: 'detached' })]);
      if ((await inApp.count()) === 0) return;
    }
  }

  /** Whether something on the page is wider than the window. */
  async isWiderThanWindow(): Promise<boolean> {
    return this.page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth');
  }

  async picture(name: string): Promise<void> {
    if (PICTURES === undefined) return;
    mkdirSync(PICTURES, { recursive: true });
    await this.page.waitForTimeout(600);
    await this.page.screenshot({ path: join(PICTURES, `${name}.png`) });
  }

  async close(): Promise<void> {
    await this.page.context().close();
  }
}
