import { createRequire } from 'node:module';
import { mkdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { findChromium, launchChromium } from '../../support/chromium.ts';
import { startTestRedis, type TestRedis } from '../../support/redis.ts';
import { startIdentityFixture, type IdentityFixture } from './identity-fixture.ts';

/** Folder for screenshots of every page; unset for none. */
const PICTURES = process.env['PICTURES_DIR'];
const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

const LOOKS = [
  { name: 'wide-light-en', locale: 'en-US', colorScheme: 'light', viewport: { width: 1200, height: 850 } },
  { name: 'narrow-dark-zh', locale: 'zh-CN', colorScheme: 'dark', viewport: { width: 390, height: 844 } },
  { name: 'wide-dark-en', locale: 'en-US', colorScheme: 'dark', viewport: { width: 1200, height: 850 } },
  { name: 'narrow-light-zh', locale: 'zh-CN', colorScheme: 'light', viewport: { width: 390, height: 844 } },
] as const;

const WORDS = {
  'en-US': {
    go: 'Continue',
    yes: 'Confirm and sign in',
    done: 'You are signed in as',
    over: 'can no longer be used',
  },
  'zh-CN': { go: '继续', yes: '确认登录', done: '登录成功：', over: '已无法使用' },
} as const;

const describeInChromium = findChromium() === undefined ? describe.skip : describe;

describeInChromium('the sign-in pages in Chromium', () => {
  let server: TestRedis;
  let fixture: IdentityFixture;
  let browser: Browser;
  let inspected: Page;
  beforeAll(async () => {
    server = await startTestRedis();
    fixture = await startIdentityFixture(server.redis, {
      signIn: { proof: ['same-id'] },
      platform: { hasWebSignIn: false },
    });
    fixture.service.profiles.set('20001', { attributes: { XM: '张三', BMMC: '图书馆' } });
    browser = await launchChromium();
    inspected = await (await browser.newContext({ bypassCSP: true })).newPage();
  });
  afterAll(async () => {
    await browser.close();
    await fixture.close();
    await server.stop();
  });

  for (const { name, ...look } of PICTURES === undefined ? LOOKS.slice(0, 2) : LOOKS) {
    test(`sign-in completes without accessibility violations: ${name}`, async () => {
      const context = await browser.newContext(look);
      const page = await context.newPage();
      const complaints: string[] = [];
      page.on('console', (message) => void complaints.push(message.text()));
      const words = WORDS[look.locale];
      const link = await fixture.link('20001', true);
      await page.goto(link);
      await inspect(page, `${name}-1-landing`);
      await page.getByRole('button', { name: words.go }).click();
      await page.waitForURL('**/sign-in/confirm');
      await inspect(page, `${name}-2-confirm`);
      await page.getByRole('button', { name: words.yes }).click();
      await page.getByRole('heading', { name: words.done }).waitFor();
      await inspect(page, `${name}-3-done`);
      await page.goto(link);
      await page.getByRole('heading', { name: words.over }).waitFor();
      await inspect(page, `${name}-4-E1`);
      expect(complaints.filter((text) => !text.includes('410'))).toEqual([]);
      await context.close();
    });
  }

  /** Checks a page for accessibility violations and horizontal scrolling; takes a screenshot if PICTURES_DIR is set. */
  async function inspect(page: Page, name: string): Promise<void> {
    if (PICTURES !== undefined) {
      mkdirSync(PICTURES, { recursive: true });
      await page.screenshot({ path: `${PICTURES}/${name}.png`, fullPage: true });
    }
    expect(await page.evaluate('document.documentElement.scrollWidth > window.innerWidth')).toBe(false);
    // The content security policy forbids scripts, so axe runs on a copy without it.
    await inspected.emulateMedia({ colorScheme: name.includes('dark') ? 'dark' : 'light' });
    await inspected.setContent((await page.content()).replace('<head>', `<head><base href="${fixture.url}/">`));
    await inspected.addScriptTag({ path: AXE });
    const found: unknown = await inspected.evaluate(
      `axe.run().then(({ violations }) => violations.map(({ id, impact }) => id + ' ' + impact))`,
    );
    expect(found).toEqual([]);
  }
});

describeInChromium('the page with the typed code in Chromium', () => {
  let server: TestRedis;
  let fixture: IdentityFixture;
  let browser: Browser;
  beforeAll(async () => {
    server = await startTestRedis();
    fixture = await startIdentityFixture(server.redis, {
      signIn: { proof: ['typed-code'] },
      platform: { hasWebSignIn: false },
    });
    browser = await launchChromium();
  });
  afterAll(async () => {
    await browser.close();
    await fixture.close();
    await server.stop();
  });

  let messages = 0;
  const typeInChat = (text: string) =>
    fixture.identity.redeemTypedCode({
      ...{ owner: fixture.owner, chatUserId: '20001', chatKind: 'private', text },
      messageId: `message-${(messages += 1)}`,
    });

  async function openCode(options: BrowserContextOptions, words: { go: string; show: string }) {
    const context = await browser.newContext(options);
    const page = await context.newPage();
    await page.goto(await fixture.link('20001', true));
    await page.getByRole('button', { name: words.go }).click();
    await page.getByRole('button', { name: words.show }).click();
    const code = (await page.locator('.symbols').innerText()).trim();
    return { context, page, code };
  }
  const ENGLISH = { go: 'Continue', show: 'Yes, show my code' };

  test('copies the code by keyboard, and continues by itself once the code is typed', async () => {
    const { context, page, code } = await openCode({ locale: 'en-US' }, ENGLISH);
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    const faults: string[] = [];
    page.on('console', (message) => void faults.push(message.text()));
    await page.getByRole('status').getByText('continues by itself once the chat has received').waitFor();
    await page.getByRole('button', { name: 'Copy the code' }).press('Enter');
    await page.getByRole('status').getByText('Copied. Paste the code in the chat.').waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(code);
    expect((await typeInChat(code))?.kind).toBe('linked');
    await page.getByRole('heading', { name: 'You are signed in as' }).waitFor();
    expect(faults).toEqual([]);
    await fixture.identity.unlink(fixture.owner, '20001', 'unlink-1');
    await context.close();
  });

  test('selects the code where a page may not copy, and shows in Chinese that the code has become invalid', async () => {
    const { context, page, code } = await openCode({ locale: 'zh-CN' }, { go: '继续', show: '是，显示验证码' });
    await page.evaluate('navigator.clipboard.writeText = () => Promise.reject(new Error())');
    await page.getByRole('button', { name: '复制验证码' }).click();
    await page.getByRole('status').getByText('已选中验证码').waitFor();
    expect(String(await page.evaluate('String(getSelection())')).trim()).toBe(code);
    await typeInChat(code.slice(0, 8) + (code.endsWith('A') ? 'B' : 'A'));
    expect(await page.locator('.symbols').innerText()).toBe(code);
    await fixture.identity.redeemTypedCode({
      ...{ owner: fixture.owner, chatUserId: '20001', chatKind: 'group', text: code, messageId: 'in-group' },
    });
    await page.locator('html[data-outcome=error]').waitFor();
    await context.close();
  });

  test('works without scripts: no button to copy, and a link to the next page', async () => {
    const { context, page, code } = await openCode({ locale: 'en-US', javaScriptEnabled: false }, ENGLISH);
    expect(await page.getByRole('button', { name: 'Copy the code' }).count()).toBe(0);
    await typeInChat(code);
    await page.getByRole('link', { name: 'I have typed it' }).click();
    await page.getByRole('heading', { name: 'You are signed in as' }).waitFor();
    await context.close();
  });
});
