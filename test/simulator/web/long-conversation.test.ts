import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { BrowserContext, Page } from 'playwright-core';
import { SHOWN_MESSAGES } from '../../../src/simulator/api.ts';
import { findChromium } from '../../support/chromium.ts';
import { untilTrue } from '../../support/deployment.ts';
import { ALICE, BOOTSTRAP, GROUP, messageView, PRIVATE } from './sample-views.ts';
import { usePageServer } from './use-page-server.ts';

const withBrowser = findChromium() === undefined ? describe.skip : describe;
const START_MS = Date.UTC(2026, 0, 5, 8);
const line = (index: number) => messageView({ id: `m${index}`, text: `Line ${index}`, atMs: START_MS + index * 1_000 });
const lines = (count: number) => Array.from({ length: count }, (_, index) => line(index));

withBrowser('a long conversation on the page', () => {
  let context: BrowserContext;
  let page: Page;
  const conversations = [{ ...PRIVATE }, { ...GROUP }];
  const { server, newContext } = usePageServer({ bootstrap: BOOTSTRAP, conversations });

  beforeEach(async () => {
    Object.assign(conversations[0] ?? {}, PRIVATE);
    server.messages.set(PRIVATE.id, []);
    context = await newContext({ viewport: { width: 1200, height: 850 }, locale: 'en-GB' });
    page = await context.newPage();
  });
  afterEach(() => context.close());

  const open = async () => {
    await page.goto(`${server.url}/?person=alice#${encodeURIComponent(PRIVATE.id)}`);
    await page.locator('.load-state').waitFor({ state: 'detached' });
  };
  const row = (id: string) => page.locator(`li[data-message-id=${id}]`);
  const earlier = () => page.getByRole('button', { name: 'Earlier messages' });
  const topOf = async (id: string) => (await row(id).boundingBox())?.y ?? Number.NaN;
  const list = () => page.locator('.messages');
  const scrolledPx = () => page.evaluate<number>(`document.querySelector('.messages').scrollTop`);

  test('loads more than the first 200 messages without losing the scroll position', async () => {
    server.messages.set(PRIVATE.id, lines(SHOWN_MESSAGES + 30));
    await open();
    await row('m229').waitFor();
    expect(await row('m29').count()).toBe(0);
    await earlier().scrollIntoViewIfNeeded();
    const before = await topOf('m30');
    await earlier().click();
    await row('m0').waitFor({ state: 'attached' });
    expect(Math.abs((await topOf('m30')) - before)).toBeLessThan(3);
    await earlier().waitFor({ state: 'detached' });
    expect(await page.locator('li[data-message-id]').count()).toBe(SHOWN_MESSAGES + 30);
  });

  test('shows a line above messages that arrived meanwhile, until the reader writes', async () => {
    server.messages.set(PRIVATE.id, lines(6));
    Object.assign(conversations[0] ?? {}, { unread: 2 });
    await open();
    const mark = page.getByRole('separator', { name: 'New' });
    await mark.waitFor();
    const markTop = (await mark.boundingBox())?.y ?? 0;
    expect([(await topOf('m3')) < markTop, (await topOf('m4')) > markTop]).toEqual([true, true]);
    await page.getByRole('textbox', { name: 'Message' }).fill('I see');
    await page.keyboard.press('Enter');
    await mark.waitFor({ state: 'detached' });
  });

  test('scrolls up by the wheel while an answer grows', async () => {
    server.messages.set(PRIVATE.id, lines(60));
    await open();
    await row('m59').waitFor();
    const grown = (steps: number) =>
      messageView({ id: 'grows', state: 'streaming', text: 'More.\n\n'.repeat(steps), atMs: START_MS + 9e6 });
    server.show(grown(1));
    await row('grows').waitFor();
    const reading = new AbortController();
    const growing = (async () => {
      // Each step waits until the previous one is drawn, so that a slow machine is not overloaded.
      for (let steps = 2; !reading.signal.aborted; steps += 1) {
        server.show(grown(steps));
        await row('grows')
          .locator('.block p')
          .nth(steps - 1)
          .waitFor();
      }
    })();
    await list().hover();
    const atEnd = await scrolledPx();
    for (let notch = 0; notch < 3; notch += 1) await page.mouse.wheel(0, -100);
    await page.getByRole('button', { name: 'Jump to latest message' }).waitFor();
    const grownTo = await row('grows').locator('.block p').count();
    await row('grows')
      .locator('.block p')
      .nth(grownTo + 3)
      .waitFor();
    expect(await scrolledPx()).toBeLessThan(atEnd - 150);
    reading.abort();
    await growing;
  });

  test('keeps the scroll position of the reader when the page redraws', async () => {
    server.messages.set(PRIVATE.id, lines(60));
    await open();
    await row('m59').hover();
    await row('m59').locator('.tools').waitFor();
    // Scrolling puts another message under the pointer, whose tools are drawn before the list's own event arrives.
    await page.evaluate(`
      document.querySelector('.messages').scrollTop = 300;
      document.querySelector('li[data-message-id=m30]').dispatchEvent(new PointerEvent('pointerenter'));
    `);
    await page.getByRole('button', { name: 'Jump to latest message' }).waitFor();
    expect(await scrolledPx()).toBe(300);
  });

  test('scrolls by Page Up and Home to the beginning, and by End to the end, and stays there', async () => {
    server.messages.set(PRIVATE.id, lines(60));
    await open();
    await row('m59').focus();
    const end = await scrolledPx();
    await page.keyboard.press('PageUp');
    await untilTrue(async () => (await scrolledPx()) < end - 200);
    await page.keyboard.press('Home');
    await page.locator('li[data-message-id=m0]:focus').waitFor();
    await untilTrue(async () => (await scrolledPx()) < 10);
    server.show(messageView({ id: 'new', text: 'New', atMs: START_MS + 9e6 }));
    await page.getByRole('button', { name: 'New messages (1)' }).waitFor();
    await page.keyboard.press('End');
    await page.locator('li[data-message-id=new]:focus').waitFor();
    await page.getByRole('button', { name: 'New messages (1)' }).waitFor({ state: 'detached' });
  });

  test('shows the top of a first screen that is longer than the window', async () => {
    await page.setViewportSize({ width: 900, height: 420 });
    await open();
    await page.getByRole('heading', { name: 'Ask Parley' }).waitFor();
    expect(await scrolledPx()).toBe(0);
    expect(await page.getByRole('button', { name: 'Jump to latest message' }).count()).toBe(0);
  });

  test('keeps the focus in the text box, and returns it from a message or a button when the user types', async () => {
    server.messages.set(PRIVATE.id, lines(3));
    await open();
    await row('m2').waitFor();
    await page.keyboard.type('Hel');
    await row('m1').focus();
    await page.keyboard.type('lo');
    await page.getByRole('button', { name: 'Send' }).focus();
    await page.keyboard.type('!');
    expect(await page.getByRole('textbox', { name: 'Message' }).inputValue()).toBe('Hello!');
    // A browser shortcut is not handled by the page.
    await row('m1').focus();
    await page.keyboard.press('Control+k');
    expect(await page.evaluate('document.activeElement.tagName')).toBe('LI');
  });

  test('shows a caret and Stop for a growing answer, but not for a waiting invitation', async () => {
    await open();
    const growing = { state: 'streaming', atMs: START_MS } as const;
    server.show(messageView({ ...growing, id: 'grows', text: 'Half' }));
    await row('grows').getByRole('button', { name: 'Stop' }).waitFor();
    const caret = (id: string) =>
      page.evaluate<string>(
        `getComputedStyle(document.querySelector('[data-message-id=${id}] .block p'), '::after').content`,
      );
    expect(await caret('grows')).toBe('""');
    server.show(messageView({ ...growing, id: 'waits', text: 'Please [sign in](http://127.0.0.1:9/link/abc-DEF_1).' }));
    await row('waits').waitFor();
    expect(await row('waits').getByRole('button', { name: 'Stop' }).count()).toBe(0);
    expect(await caret('waits')).toBe('none');
    expect(await row('waits').getAttribute('aria-busy')).toBe('false');
  });

  test.each([1200, 390, 320])('shows ids unbroken and previews up to their end at %i pixels', async (width) => {
    const id = 'req_8fa1-22bc-9911';
    const lastLine = 'A line that is a little longer than the place that is left beside the time of day';
    Object.assign(conversations[0] ?? {}, { lastLine, lastAtMs: START_MS });
    const words = ['x', 'xx xx', 'xxx xxxx x', 'xx xxxxx xx xxx'];
    server.messages.set(
      PRIVATE.id,
      words.map((text, index) => messageView({ id: `m${index}`, text: `${text} \`${id}\` and on` })),
    );
    await page.setViewportSize({ width, height: 850 });
    await page.goto(`${server.url}/?person=alice`);
    const place = page.locator('[data-kind=private]');
    await place.waitFor();
    const edgeOf = async (part: string) => {
      const box = await place.locator(part).boundingBox();
      return (box?.x ?? 0) + (box?.width ?? 0);
    };
    expect(await edgeOf('.conversation-line')).toBeCloseTo(await edgeOf('.conversation-time'), 0);
    await place.click();
    await row('m3').waitFor();
    for (const code of await page.locator('.block code').all())
      expect((await code.boundingBox())?.height).toBeLessThan(32);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
  });

  test('reports an unknown slash word', async () => {
    await open();
    await page.getByRole('textbox', { name: 'Message' }).fill('/sotp');
    await page.getByText('There is no command “/sotp”.').waitFor();
    await page.keyboard.press('Enter');
    await page.locator(`li[data-sender=${ALICE.id}]`).waitFor();
  });
});
