import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import axe, { type AxeResults } from 'axe-core';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { BROWSER_WAIT_MS, findChromium, launchChromium } from '../../support/chromium.ts';
import { startPageServer, type PageServer } from './page-server.ts';
import { ALICE, BOOTSTRAP, GROUP, messageView, PRIVATE } from './sample-views.ts';

const withBrowser = findChromium() === undefined ? describe.skip : describe;
const LOGIN = { username: 'alice.wang', password: 'blue-kettle-5' };

withBrowser('the page of a platform with threads', () => {
  let browser: Browser;
  let server: PageServer;
  let context: BrowserContext;
  let page: Page;

  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser.close());
  beforeEach(async () => {
    const localLogins = { [ALICE.id]: LOGIN };
    const bootstrap = { ...BOOTSTRAP, protocol: 'slack' as const, localLogins, signInHost: 'sign-in.test:81' };
    server = await startPageServer({ bootstrap, conversations: [PRIVATE, GROUP] });
    context = await browser.newContext({ viewport: { width: 1200, height: 850 }, locale: 'en-GB' });
    context.setDefaultTimeout(BROWSER_WAIT_MS);
    page = await context.newPage();
    await page.goto(`${server.url}/?person=alice`);
    await page.locator('.first-run').waitFor();
  });
  afterEach(async () => {
    await context.close();
    await server.close();
  });

  const rows = () => page.getByRole('log', { name: 'Messages' }).getByRole('listitem');
  const ask = () => server.show(messageView({ id: 'q1', sender: ALICE.id, senderName: ALICE.name, text: 'When?' }));
  const root = { rootId: 'q1', senderName: ALICE.name, text: 'When?' };
  const marks = async () =>
    Promise.all((await page.locator('.in-thread').all()).map((mark) => mark.getAttribute('aria-label')));

  test('the login is shown on the first run, and next to the sign-in pages in the browser', async () => {
    await expect(page.locator('.first-run').innerText()).resolves.toContain(
      'Your user name is alice.wang, your password is blue-kettle-5.',
    );
    server.show(messageView({ id: 'a1', text: 'Sign in: http://127.0.0.1:9/link/x' }));
    await rows().locator('a').click();
    await page.locator('.in-app').waitFor();
    const frame = { id: 'frame-1', frameUrl: '/frame' };
    expect(await page.locator('.login-hint').count()).toBe(0);
    server.emit({ name: 'frame', data: { ...frame, host: 'sign-in.test:81' } });
    await page.locator('.login-hint dd').nth(1).waitFor();
    expect(await page.locator('.login-hint dd').allInnerTexts()).toEqual(['alice.wang', 'blue-kettle-5']);
    // The typed text in the chat and the page that shows it are both visible.
    const [panel, send] = [page.locator('.in-app'), page.getByRole('button', { name: 'Send' })];
    const [left, right] = [(await panel.boundingBox())?.x ?? 0, await send.boundingBox()];
    expect((right?.x ?? 9_999) + (right?.width ?? 0)).toBeLessThanOrEqual(left);
  });

  test('the tour types its texts in the form of this app, and recognises them', async () => {
    const bootstrap = { ...BOOTSTRAP, protocol: 'slack' as const, isLocal: true };
    const local = await startPageServer({ bootstrap, conversations: [PRIVATE, GROUP] });
    try {
      const done = JSON.stringify({ done: ['ask', 'signIn', 'mention', 'image', 'stop'] });
      await page.addInitScript(`localStorage.setItem('tour', ${JSON.stringify(done)})`);
      await page.goto(`${local.url}/?person=alice`);
      await page.locator('.tour').getByText('Write “retry”.').waitFor();
      await page.getByRole('button', { name: 'Write “retry”' }).click();
      await page.getByText('Retry an answer (done)').waitFor();
      const texts = local.calls.flatMap(({ body }) => (body as { text?: string } | undefined)?.text ?? []);
      expect(texts).toEqual(['retry']);
    } finally {
      await local.close();
    }
  });

  test('one Enter in the list of commands sends the command, and Tab leaves it for an argument', async () => {
    await page.getByRole('textbox', { name: 'Message' }).focus();
    await page.keyboard.type('/help');
    await page.keyboard.press('Enter');
    await rows().getByText('help', { exact: true }).waitFor();
    await page.keyboard.type('/st');
    await page.keyboard.press('Tab');
    await page.keyboard.type(' now');
    await page.keyboard.press('Enter');
    await rows().getByText('stop now', { exact: true }).waitFor();
    const texts = () => server.calls.flatMap(({ body }) => (body as { text?: string } | undefined)?.text ?? []);
    while (texts().length < 2) await page.waitForTimeout(20);
    expect(texts()).toEqual(['help', 'stop now']);
  });

  test('the note about an answer is visible and announced, but not part of its text', async () => {
    server.show(messageView({ id: 'a1', text: 'Half an answer', note: 'Stopped.' }));
    const row = rows().first();
    expect((await row.locator('[data-part="text"]').innerText()).trim()).toBe('Half an answer');
    expect(await row.innerText()).not.toContain('Stopped.');
    const note = row.getByRole('note', { name: 'Stopped.' });
    expect((await note.boundingBox())?.height).toBeGreaterThan(10);
    const drawn = "getComputedStyle(document.querySelector('.answer-note'), '::before').content";
    expect(await page.evaluate<string>(drawn)).toBe('"Stopped."');
  });

  test('an answer below its question only says that it is in a thread, and elsewhere names the thread', async () => {
    ask();
    server.show(messageView({ id: 'a1', text: 'At ten.', thread: root }));
    server.show(messageView({ id: 'q2', sender: ALICE.id, senderName: ALICE.name, text: 'Thanks' }));
    server.show(messageView({ id: 'a2', text: 'Or at eleven.', thread: root }));
    await rows().nth(3).waitFor();
    expect(await marks()).toEqual(['Thread', 'Thread · Alice Wang: When?']);
    // The item's text is the message's own.
    expect((await rows().nth(3).innerText()).trim()).toBe('Or at eleven.');
  });

  test('a reply goes to the thread of the message, without a quote', async () => {
    ask();
    server.show(messageView({ id: 'a1', text: 'At ten.', thread: root }));
    await rows().nth(1).hover();
    await page.getByRole('button', { name: 'Reply in thread' }).click();
    expect(await page.locator('.quote-tray').innerText()).toMatch(/Reply in thread\s+When\?/);
    await page.getByRole('textbox', { name: 'Message' }).fill('Sure?');
    // The page shows the message before the server has it.
    const sending = page.waitForResponse((response) => response.request().method() === 'POST');
    await page.getByRole('button', { name: 'Send' }).click();
    await rows().nth(2).waitFor();
    await sending;
    const sent = server.calls.find(({ path }) => path.endsWith('/messages'));
    expect(sent?.body).toMatchObject({ text: 'Sure?', quoteMessageId: 'a1' });
    expect(await page.locator('.quoted').count()).toBe(0);
  });

  test('the status of the bot stays below the messages until it is cleared', async () => {
    ask();
    server.emit({ name: 'status', data: { conversationId: PRIVATE.id, text: 'is thinking…' } });
    await page.locator('.status-line', { hasText: 'is thinking…' }).waitFor();
    server.emit({ name: 'status', data: { conversationId: PRIVATE.id, text: '' } });
    await page.locator('.status-line', { hasText: 'is thinking…' }).waitFor({ state: 'detached' });
  });

  test('the dots and Stop are shown immediately, before the answer has begun', async () => {
    await page.getByRole('textbox', { name: 'Message' }).fill('When?');
    await page.keyboard.press('Enter');
    await page.locator('.waiting .dots').waitFor();
    await page.locator('li[data-sender=alice][data-delivery=sent]').waitFor();
    const question = server.calls.find(({ path }) => path.endsWith('/messages'));
    expect(question?.body).toMatchObject({ text: 'When?' });
    const id = await page.locator('li[data-sender=alice]').getAttribute('data-message-id');
    await page.getByRole('button', { name: 'Stop' }).click();
    while (!server.calls.some(({ path }) => path === `/api/messages/${id}/stop`)) await page.waitForTimeout(20);
    server.emit({ name: 'status', data: { conversationId: PRIVATE.id, text: 'is thinking…' } });
    await page.locator('.waiting .dots').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Stop' }).waitFor();
    server.show(messageView({ id: 'a1', text: 'At', state: 'streaming', atMs: Date.now() + 1_000 }));
    await rows().nth(1).waitFor();
    expect(await page.getByRole('button', { name: 'Stop' }).count()).toBe(1);
  });

  test("Stop is the app's own button", async () => {
    ask();
    server.show(messageView({ id: 'a1', text: 'At', thread: root, state: 'streaming' }));
    await page.getByRole('button', { name: 'Stop' }).click();
    const stops = () => server.calls.filter(({ path }) => path === '/api/messages/a1/stop');
    while (stops().length === 0) await page.waitForTimeout(20);
    expect(stops()[0]?.body).toEqual({ person: 'alice' });
    expect(server.calls.some(({ path }) => path.endsWith('/messages'))).toBe(false);
  });

  test.each(['light', 'dark'] as const)('axe reports nothing (%s)', async (colorScheme) => {
    await page.emulateMedia({ colorScheme });
    ask();
    server.show(messageView({ id: 'a1', text: 'http://127.0.0.1:9/link/x', thread: root }));
    server.emit({ name: 'status', data: { conversationId: PRIVATE.id, text: 'is thinking…' } });
    await rows().locator('a').click();
    // Repeated until it is shown: on a busy machine the press of the link may reach the page after the frame's address.
    for (let tries = 0; tries < 20 && !(await page.locator('.login-hint').isVisible()); tries += 1) {
      server.emit({ name: 'frame', data: { id: 'frame-1', frameUrl: '/frame', host: 'sign-in.test:81' } });
      await page.waitForTimeout(500);
    }
    await page.locator('.login-hint').waitFor();
    await page.evaluate(axe.source);
    const { violations } = await page.evaluate(() =>
      (globalThis as unknown as { axe: { run(): Promise<AxeResults> } }).axe.run(),
    );
    expect(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])).toEqual([]);
  });
});
