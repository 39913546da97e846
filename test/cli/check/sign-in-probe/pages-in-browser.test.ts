import { createRequire } from 'node:module';
import { mkdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { findChromium, launchChromium } from '../../../support/chromium.ts';
import { lineIn, startProbe } from './probe-run.ts';
import { startProbeStandIn } from './probe-stand-in.ts';

/** Directory for screenshots of every page, if set. */
const PICTURES = process.env['PICTURES_DIR'];
const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
const describeInChromium = findChromium() === undefined ? describe.skip : describe;

const LOOKS = [
  {
    name: 'wide-light-en',
    look: { locale: 'en-US', colorScheme: 'light', viewport: { width: 1200, height: 850 } },
    words: {
      begin: 'Begin',
      skip: 'It showed an error, continue',
      out: 'I have signed out',
      over: 'The check is complete',
    },
  },
  {
    name: 'narrow-dark-zh',
    look: { locale: 'zh-CN', colorScheme: 'dark', viewport: { width: 390, height: 844 } },
    words: { begin: '开始', skip: '登录服务显示错误，跳过此步', out: '我已退出登录', over: '检测完成' },
  },
] as const;

describeInChromium('the sign-in probe in Chromium', () => {
  let browser: Browser;
  let inspected: Page;
  beforeAll(async () => {
    browser = await launchChromium();
    inspected = await (await browser.newContext({ bypassCSP: true })).newPage();
  });
  afterAll(() => browser.close());

  for (const { name, look, words } of LOOKS) {
    test(`advances by itself past an error page and signs out, without axe findings, ${name}`, async () => {
      const service = await startProbeStandIn({ strangeParameters: 'page', logoutReturns: false });
      const { ended, link, output } = await startProbe(service.url, { lingerMs: 3_500 });
      const page = await (await browser.newContext(look)).newPage();
      await page.goto(await link);
      await inspect(page, `${name}-start`);
      await page.getByRole('button', { name: words.begin }).click();
      await page.waitForURL(/authorize/);
      await page.goto(await link);
      await inspect(page, `${name}-away`);
      await page.getByRole('button', { name: words.skip }).click();
      const signedOut = page.getByRole('button', { name: words.out });
      await signedOut.waitFor();
      await inspect(page, `${name}-sign-out`);
      const [tab] = await Promise.all([page.waitForEvent('popup'), page.locator('a.primary').click()]);
      await tab.waitForLoadState();
      expect(await tab.textContent('h1')).toBe('Bye');
      await signedOut.click();
      await page.getByRole('heading', { name: words.over }).waitFor();
      await inspect(page, `${name}-over`);
      expect(await ended).toBe(1);
      expect(lineIn(output(), 'After signing out')).toMatch(/^ok/);
      await page.context().close();
      await service.close();
    });
  }

  /** Inspects a copy without the content policy, which would block axe's script. */
  async function inspect(page: Page, name: string): Promise<void> {
    if (PICTURES !== undefined) {
      mkdirSync(PICTURES, { recursive: true });
      await page.screenshot({ path: `${PICTURES}/probe-${name}.png` });
    }
    await inspected.setContent(await page.content());
    await inspected.addScriptTag({ path: AXE });
    const found = await inspected.evaluate(async () => {
      const { axe } = globalThis as unknown as { axe: { run(): Promise<{ violations: { id: string }[] }> } };
      return (await axe.run()).violations.map(({ id }) => id);
    });
    expect(found).toEqual([]);
  }
});
