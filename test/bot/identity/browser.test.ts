import { createRequire } from 'node:module';
import { mkdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
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
