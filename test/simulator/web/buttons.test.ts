import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import axe, { type AxeResults } from 'axe-core';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import type { Bootstrap, ButtonView } from '../../../src/simulator/api.ts';
import { BROWSER_WAIT_MS, findChromium, launchChromium } from '../../support/chromium.ts';
import { startPageServer, type PageServer } from './page-server.ts';
import { ALICE, BOOTSTRAP, GROUP, messageView, PRIVATE } from './sample-views.ts';

const withBrowser = findChromium() === undefined ? describe.skip : describe;
const PROMPTS = { title: 'Try one', items: [{ title: 'Rooms', message: 'Which rooms are free?' }] };
const STOP: ButtonView = { id: 'b1/parley_stop', kind: 'button', label: 'Stop', style: 'danger' };
const RETRY: ButtonView = { id: 'b1/parley_retry', kind: 'button', label: 'Try again' };
const THUMBS: ButtonView[] = [
  { id: 'b2/f/good', kind: 'good', label: 'Helpful', isPressed: true },
  { id: 'b2/f/bad', kind: 'bad', label: 'Not helpful' },
  { id: 'b2/d', kind: 'remove', label: 'Delete' },
];

interface Opened {
  protocol?: Bootstrap['protocol'];
  prompts?: typeof PROMPTS;
  width?: number;
  locale?: string;
}

withBrowser('buttons on the page', () => {
  let browser: Browser;
  let server: PageServer;
  let context: BrowserContext;
  let page: Page;

  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser.close());
  beforeEach(() => open());
  afterEach(close);

  async function open({ protocol = 'slack', prompts, width = 1200, locale = 'en-GB' }: Opened = {}): Promise<void> {
    server = await startPageServer({
      bootstrap: { ...BOOTSTRAP, protocol },
      conversations: [{ ...PRIVATE, prompts }, GROUP],
    });
    context = await browser.newContext({ viewport: { width, height: 850 }, locale });
    context.setDefaultTimeout(BROWSER_WAIT_MS);
    page = await context.newPage();
    await page.goto(`${server.url}/?person=alice`);
    if (width < 721) await page.locator('[data-kind=private]').click();
    await page.locator('.first-run').waitFor();
  }
  async function close(): Promise<void> {
    await context.close();
    await server.close();
  }
  async function reopen(options: Opened): Promise<void> {
    await close();
    await open(options);
  }

  const row = (id: string) => page.locator(`li[data-message-id="${id}"]`);
  const named = (name: string) => page.getByRole('button', { name, exact: true });
  const own = { sender: ALICE.id, senderName: ALICE.name, state: 'sent', canAmend: true } as const;
  const callsTo = (what: string) =>
    server.calls.filter(({ path }) => path.endsWith(`/${what}`)).map(({ body }) => body);
  const untilCalled = async (what: string, count = 1) => {
    while (callsTo(what).length < count) await page.waitForTimeout(20);
    return callsTo(what);
  };

  test('a bot button works by mouse and keyboard, once at a time, and reports a failure', async () => {
    server.show(messageView({ id: 'a1', text: 'At ten.', state: 'streaming', buttons: [[STOP, RETRY], THUMBS] }));
    // The bot's own button replaces the page's.
    await named('Stop').waitFor();
    expect(await named('Stop').count()).toBe(1);
    expect((await row('a1').innerText()).trim()).toBe('At ten.');
    server.standStill(true);
    await named('Try again').click();
    await page.locator('.bot-button[aria-busy=true]').waitFor();
    await named('Try again').click();
    server.standStill(false);
    await page.locator('.bot-button[aria-busy=true]').waitFor({ state: 'detached' });
    expect(await untilCalled('press')).toEqual([{ person: 'alice', button: 'b1/parley_retry' }]);
    server.refuseChanges(true);
    await named('Stop').focus();
    await page.keyboard.press('Enter');
    const said = page.locator('.press-failed[data-said]');
    await said.waitFor();
    expect(await said.getAttribute('data-said')).toMatch(/did not work/);
    server.refuseChanges(false);
    await page.keyboard.press('Enter');
    await said.waitFor({ state: 'detached' });
    expect(callsTo('press')).toHaveLength(3);
  });

  test("a pressed rating is marked and keeps the bot's label", async () => {
    server.show(messageView({ id: 'a1', buttons: [THUMBS] }));
    await named('Helpful').waitFor();
    const pressed = () =>
      Promise.all(['Helpful', 'Not helpful', 'Delete'].map((name) => named(name).getAttribute('aria-pressed')));
    expect(await pressed()).toEqual(['true', 'false', null]);
    await named('Not helpful').click();
    expect(await untilCalled('press')).toEqual([{ person: 'alice', button: 'b2/f/bad' }]);
    // The button is marked once the server confirms the press.
    expect(await pressed()).toEqual(['true', 'false', null]);
  });

  test('an ephemeral message is marked and can disappear', async () => {
    server.show(messageView({ id: 'e1', text: 'Why?', isOnlyForYou: true, buttons: [[RETRY]] }));
    await row('e1').getByRole('note', { name: 'Only you can see this' }).waitFor();
    expect((await row('e1').innerText()).trim()).toBe('Why?');
    server.emit({ name: 'gone', data: { id: 'e1', conversationId: PRIVATE.id } });
    await row('e1').waitFor({ state: 'detached' });
  });

  test('suggested questions are on the first screen only, and a tap asks them', async () => {
    await reopen({ prompts: PROMPTS });
    const chips = page.getByRole('group', { name: 'Try one' });
    await chips.getByRole('button', { name: 'Rooms' }).click();
    await row('sent-1').getByText('Which rooms are free?').waitFor();
    // The app offers them again whenever the person opens the chat.
    server.emit({ name: 'conversation', data: { ...PRIVATE, prompts: PROMPTS, lastLine: 'Offered again' } });
    await page.getByText('Offered again').waitFor();
    expect(await chips.count()).toBe(0);
  });

  test('an own message is edited in place or left by Escape, and deleted only after a confirmation', async () => {
    server.show(messageView({ id: 'q1', ...own, text: 'Wen?' }));
    await row('q1').hover();
    await named('Edit message').click();
    const box = page.getByRole('textbox', { name: 'Edit message' });
    await box.fill('When?');
    await page.keyboard.press('Escape');
    await box.waitFor({ state: 'detached' });
    expect(await page.evaluate('document.activeElement.dataset.messageId')).toBe('q1');
    await named('Edit message').click();
    await box.fill('When?');
    server.refuseChanges(true);
    await page.keyboard.press('Enter');
    await page.locator('.notice').waitFor();
    server.refuseChanges(false);
    await page.keyboard.press('Enter');
    await box.waitFor({ state: 'detached' });
    expect(callsTo('edit').at(-1)).toEqual({ person: 'alice', text: 'When?' });
    server.show(messageView({ id: 'q1', ...own, text: 'When?', isEdited: true }));
    await row('q1').getByRole('img', { name: '(edited)' }).waitFor();
    await row('q1').hover();
    await named('Delete message').click();
    const dialog = page.getByRole('dialog', { name: 'Delete this message for everyone?' });
    await dialog.waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    expect(callsTo('remove')).toEqual([]);
    await row('q1').hover();
    await named('Delete message').click();
    await dialog.getByRole('button', { name: 'Delete message' }).click();
    await untilCalled('remove');
    server.show(messageView({ id: 'q1', ...own, text: 'x', isDeleted: true, canAmend: undefined }));
    await row('q1').getByText('This message was deleted.').waitFor();
    expect(await page.locator('.waiting').count()).toBe(0);
    await row('q1').hover();
    expect(await page.locator('.tools').count()).toBe(0);
  });

  test('in WeCom a bad rating asks for a reason; Escape keeps the rating and restores the focus', async () => {
    await reopen({ protocol: 'wecom', locale: 'zh-CN' });
    server.show(messageView({ id: 'a1', canRate: true }));
    await row('a1').hover();
    await named('没帮助').click();
    const dialog = page.getByRole('dialog', { name: '回答有什么问题？' });
    await dialog.waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    // A closed dialog is hidden, and so counts as detached, before its close event restores the focus.
    await page.waitForFunction("document.activeElement.closest('li')?.dataset.messageId === 'a1'");
    expect(callsTo('rate')).toEqual([{ person: 'alice', rating: 'bad' }]);
    await named('没帮助').click();
    expect((await untilCalled('rate', 2)).at(-1)).toEqual({ person: 'alice', rating: 'withdrawn' });
    await named('没帮助').click();
    await dialog.getByRole('checkbox', { name: '内容有误' }).check();
    await dialog.getByRole('checkbox', { name: '与问题无关' }).check();
    await dialog.getByRole('checkbox', { name: '与问题无关' }).uncheck();
    await dialog.getByRole('textbox').fill(' 闭馆时间不对 ');
    await dialog.getByRole('button', { name: '提交反馈' }).click();
    const why = { reasons: ['wrong'], words: '闭馆时间不对' };
    expect((await untilCalled('rate', 4)).at(-1)).toEqual({ person: 'alice', rating: 'bad', ...why });
  });

  test('a card is shown with its links, alone or below an answer', async () => {
    await reopen({ protocol: 'wecom' });
    const url = 'https://e.example/help';
    const jumps: ButtonView[] = [
      { id: 'jump:0', kind: 'button', label: 'What can you do?' },
      { id: 'jump:1', kind: 'button', label: 'Help', url },
      { id: 'jump:2', kind: 'button', label: 'Nothing', isOff: true },
    ];
    const facts = [{ name: 'Model', value: 'built-in' }];
    const card = { title: 'Hello', desc: 'I am Parley', text: 'Ask me.', url, facts, isAlone: true };
    server.show(messageView({ id: 'c1', text: 'Hello\n\nAsk me.', card, buttons: [jumps] }));
    server.show(messageView({ id: 'c2', text: 'At ten.', card: { title: 'More?' } }));
    expect((await row('c1').innerText()).split(/\s*\n\s*/)).toEqual([
      'Hello',
      'I am Parley',
      'Ask me.',
      'Model',
      'built-in',
    ]);
    expect((await row('c2').locator('[data-part=text]').innerText()).trim()).toBe('At ten.');
    expect(await row('c2').innerText()).toContain('More?');
    const link = row('c1').getByRole('link', { name: 'Help' });
    expect([await link.getAttribute('target'), await link.getAttribute('rel')]).toEqual([
      '_blank',
      'noopener noreferrer',
    ]);
    await named('Nothing').click({ force: true });
    await named('What can you do?').click();
    expect(await untilCalled('press')).toEqual([{ person: 'alice', button: 'jump:0' }]);
    server.show(messageView({ id: 'c3', buttons: [[{ ...RETRY, url: 'javascript:alert(1)' }]] }));
    await row('c3').getByRole('button', { name: 'Try again' }).waitFor();
  });

  test.each(['light', 'dark'] as const)(
    'buttons fit a phone at touch size, and axe reports nothing (%s)',
    async (colorScheme) => {
      await reopen({ prompts: PROMPTS, width: 390 });
      await page.emulateMedia({ colorScheme });
      const many = Array.from({ length: 8 }, (_, index) => ({
        ...RETRY,
        id: `${index}`,
        label: `Choice number ${index}`,
      }));
      server.show(
        messageView({ id: 'q1', ...own, text: 'When does it open, and when does it close?', isEdited: true }),
      );
      server.show(
        messageView({ id: 'a1', isOnlyForYou: true, card: { title: 'More?' }, buttons: [[STOP, ...many], THUMBS] }),
      );
      await named('Choice number 7').waitFor();
      const sizes = await page.evaluate<number[]>(
        "[...document.querySelectorAll('.bot-button, .bot-icon, .prompts button')].map((one) => one.getBoundingClientRect().height)",
      );
      expect(Math.min(...sizes)).toBeGreaterThanOrEqual(44);
      await row('q1').hover();
      await named('Edit message').click();
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
      const right =
        "Math.max(...[...document.querySelectorAll('.edit-box *, .bot-buttons *')].map((one) => one.getBoundingClientRect().right))";
      expect(await page.evaluate<number>(right)).toBeLessThanOrEqual(390);
      await page.evaluate(axe.source);
      const { violations } = await page.evaluate(() =>
        (globalThis as unknown as { axe: { run(): Promise<AxeResults> } }).axe.run(),
      );
      expect(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])).toEqual([]);
    },
  );
});
