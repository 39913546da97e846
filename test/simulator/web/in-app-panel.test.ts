import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { BrowserContext, Page } from 'playwright-core';
import { findChromium } from '../../support/chromium.ts';
import { BOOTSTRAP, GROUP, messageView, PRIVATE } from './sample-views.ts';
import { usePageServer } from './use-page-server.ts';

const withBrowser = findChromium() === undefined ? describe.skip : describe;

withBrowser('the in-app browser', () => {
  const { server, newContext } = usePageServer({ bootstrap: BOOTSTRAP, conversations: [PRIVATE, GROUP] });
  let context: BrowserContext;
  let page: Page;

  beforeEach(async () => {
    context = await newContext({ viewport: { width: 1200, height: 850 }, locale: 'en-GB' });
    page = await context.newPage();
    await page.clock.install();
    server.messages.set(PRIVATE.id, [messageView({ text: '[Sign in](http://127.0.0.1:9/link/x)' })]);
    await page.goto(`${server.url}/?person=alice#${encodeURIComponent(PRIVATE.id)}`);
    await page.getByRole('link', { name: 'Sign in' }).waitFor();
  });
  afterEach(() => context.close());

  const panel = () => page.locator('.in-app');
  const link = () => page.getByRole('link', { name: 'Sign in' });
  const composer = () => page.getByRole('textbox', { name: 'Message' });
  const isFocused = (selector: string) =>
    page.evaluate<boolean>(`document.activeElement?.closest(${JSON.stringify(selector)}) !== null`);
  const open = async () => {
    await link().click();
    await page.frameLocator('iframe').getByText('A page').waitFor();
    return server.frames.at(-1) as { id: string; frameUrl: string; host: string };
  };
  const box = async (locator: ReturnType<Page['locator']>) => (await locator.boundingBox()) ?? { x: -1, width: 0 };

  test.each([
    { width: 1200, isBeside: true, panelWidth: 376 },
    { width: 1080, isBeside: true, panelWidth: 376 },
    { width: 1079, isBeside: false, panelWidth: 480 },
    { width: 800, isBeside: false, panelWidth: 480 },
    { width: 390, isBeside: false, panelWidth: 390 },
  ])('at $width pixels: beside the chat $isBeside, width $panelWidth', async ({ width, isBeside, panelWidth }) => {
    await page.emulateMedia({ reducedMotion: 'reduce' });
    await page.setViewportSize({ width, height: 850 });
    await open();
    const { x, width: seen } = await box(panel());
    expect([x + seen, seen]).toEqual([width, panelWidth]);
    for (const covered of [page.getByRole('button', { name: 'Send' }), page.locator('li[data-sender=bot] .bubble')]) {
      const place = await box(covered);
      if (isBeside) expect(place.x + place.width).toBeLessThanOrEqual(x);
    }
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
  });

  test('takes the focus, and Escape closes it and restores the focus', async () => {
    await link().focus();
    await page.keyboard.press('Enter');
    await panel().waitFor();
    expect(await isFocused('.in-app')).toBe(true);
    await page.keyboard.press('Escape');
    await panel().waitFor({ state: 'detached' });
    expect(await isFocused('[data-in-app]')).toBe(true);
    await open();
    // The answer with the link may have been replaced meanwhile.
    server.show(messageView({ text: 'You are signed in.' }));
    await page.getByText('You are signed in.').waitFor();
    await page.keyboard.press('Escape');
    await panel().waitFor({ state: 'detached' });
    expect(await isFocused('.composer')).toBe(true);
  });

  test("closes once the bot's page reports the end, after enough time to read it", async () => {
    const frame = await open();
    server.emit({ name: 'frame', data: { ...frame, isDone: true } });
    await page.getByText('Done. This window closes automatically.').waitFor();
    await page.clock.runFor(2_000);
    expect(await panel().count()).toBe(1);
    const closed = page.waitForResponse((response) => response.request().method() === 'DELETE');
    await page.clock.runFor(3_000);
    await panel().waitFor({ state: 'detached' });
    await closed;
    expect(server.calls).toContainEqual(expect.objectContaining({ method: 'DELETE', path: `/api/frames/${frame.id}` }));
  });

  test('stays open if the person navigates on or another page reports the end, and closes when a page leads back', async () => {
    const frame = await open();
    server.emit({ name: 'frame', data: { ...frame, isDone: true } });
    await page.getByText('Done. This window closes automatically.').waitFor();
    server.emit({ name: 'frame', data: { ...frame, host: 'next.test' } });
    await page.getByText('Done. This window closes automatically.').waitFor({ state: 'detached' });
    // Longer than the window takes to close, shorter than the silence after which the page reconnects and misses an event.
    await page.clock.runFor(6_000);
    expect(await panel().count()).toBe(1);
    server.emit({ name: 'frame', data: { ...frame, isClosed: true } });
    await panel().waitFor({ state: 'detached' });
    await composer().fill('Still here');
  });
});
