import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { BrowserContext, CDPSession, Page } from 'playwright-core';
import { findChromium } from '../../support/chromium.ts';
import { ALICE, BOB, BOOTSTRAP, GROUP, messageView, PRIVATE } from './sample-views.ts';
import { usePageServer } from './use-page-server.ts';

const withBrowser = findChromium() === undefined ? describe.skip : describe;

withBrowser('the page with the keyboard only', () => {
  const { server, newContext } = usePageServer({
    bootstrap: { ...BOOTSTRAP, isLocal: true },
    conversations: [PRIVATE, GROUP],
  });
  let context: BrowserContext;
  let page: Page;

  beforeEach(async () => {
    server.calls.length = 0;
    server.messages.set(PRIVATE.id, []).set(GROUP.id, []);
    await open(1200);
  });
  afterEach(() => context.close());

  async function open(width: number): Promise<void> {
    context = await newContext({ viewport: { width, height: 850 }, locale: 'en-GB' });
    page = await context.newPage();
    await page.goto(`${server.url}/?person=alice`);
    await page.getByRole('combobox', { name: 'Signed in as' }).waitFor();
    if (width > 720) await page.locator('.load-state').waitFor({ state: 'detached' });
  }
  const button = (name: string) => page.getByRole('button', { name });
  const press = async (name: string) => {
    await page.keyboard.press('Shift');
    await button(name).focus();
    await page.keyboard.press('Enter');
  };
  /** Resolves once the control that matches has the focus. */
  const hasFocus = (selector: string) => page.locator(`${selector}:focus`).waitFor();
  const grow = (text: string, state: 'streaming' | 'final' = 'streaming') =>
    server.show(messageView({ state, text, atMs: Date.now() }));
  /** Waits for the next step, because a press during the change is lost. */
  const askForLongAnswer = async () => {
    await press('Ask for a long answer');
    grow('1 2 3');
    await page.locator('li[data-message-id=m1]').waitFor();
    await hasFocus('.tour-action');
  };

  test.each([1200, 390])('Tab follows the visual order, including the tour, at %i pixels', async (width) => {
    await context.close();
    await open(width);
    const seen: string[] = [];
    await page.locator('.ribbon-button').last().focus();
    if (width < 721) await page.keyboard.press('Enter');
    for (let index = 0; index < 12; index += 1) {
      await page.keyboard.press('Tab');
      seen.push(
        await page.evaluate<string>(
          "['tour', 'sidebar', 'pane'].find((part) => document.activeElement.closest('.' + part)) ?? ''",
        ),
      );
    }
    const order = seen.filter((part, index) => part !== seen[index - 1]);
    expect(order.slice(0, 2)).toEqual(width > 720 ? ['sidebar', 'tour'] : ['tour', 'sidebar']);
  });

  test('a press in the tour moves the focus to the next step, and hiding the tour to the button that shows it', async () => {
    await press('Ask “What can I try?”');
    await hasFocus('[aria-current=step]');
    expect(await page.locator(':focus').innerText()).toContain('Sign in');
    await askForLongAnswer();
    await press('Kill the bot now');
    await page.getByText(/was ended with kill -9/).waitFor();
    await hasFocus('.tour-action.kill');
    await press('Hide the tour');
    await hasFocus('.ribbon [aria-expanded=false]');
    await page.keyboard.press('Enter');
    await button('Hide the tour').focus();
    await page.keyboard.press('Escape');
    await hasFocus('.ribbon [aria-expanded=false]');
  });

  test('the report on the killed bot is shown even if the tour was hidden meanwhile', async () => {
    await askForLongAnswer();
    await press('Kill the bot now');
    await page.getByText(/was ended with kill -9/).waitFor();
    await press('Hide the tour');
    const next = { processId: 4712, afterMs: 830, takenOver: 1 };
    server.emit({ name: 'worker', data: { killedProcessId: 4711, killedAtMs: Date.now(), next } });
    for (const text of ['1 2 3 4', '1 2 3 4 5', '1 2 3 4 5 6']) {
      grow(text);
      await page.locator('li[data-message-id=m1]').getByText(text).waitFor();
    }
    grow('1 2 3 4 5 6 7', 'final');
    await page.getByText('2 of 8').waitFor(); // Asked, and killed.
    await button('Tour 2 of 8').focus();
    await page.keyboard.press('Enter');
    await page.getByText(/continued after .* is complete/).waitFor();
    expect(await page.locator('.kill-lines li').count()).toBe(3);
  });

  test('ArrowUp in the empty box recalls the last message, and moves the caret in a written text', async () => {
    const box = page.getByRole('textbox', { name: 'Message' });
    await box.focus();
    await page.keyboard.press('ArrowUp');
    expect(await box.inputValue()).toBe('');
    await page.keyboard.type('Hello');
    await page.keyboard.press('Enter');
    await page.locator('li[data-sender=alice]').waitFor();
    grow('Hello.', 'final');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.type('!');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.type('> ');
    expect(await box.inputValue()).toBe('> Hello!');
  });

  test('choosing a user keeps the focus in the list, so that the arrow keys reach everyone', async () => {
    await page.getByRole('combobox', { name: 'Signed in as' }).focus();
    for (const person of ['bob', 'chen']) {
      await page.keyboard.press('ArrowDown');
      await page.waitForURL(new RegExp(`person=${person}`));
      await hasFocus('.person-picker select');
    }
  });

  test('a stopped answer keeps the focus on its message, whose tools disappear with the focus', async () => {
    grow('1 2 3');
    await page.locator('li[data-message-id=m1]').waitFor();
    server.messages.set(PRIVATE.id, [messageView({ id: 'q', sender: ALICE.id, state: 'sent', text: 'Count' })]);
    await page.reload();
    grow('1 2 3');
    await press('Stop');
    grow('1 2 3', 'final');
    await hasFocus('li[data-message-id=m1]');
    await page.locator('li[data-message-id=m1] .tools').waitFor();
    await page.getByRole('textbox', { name: 'Message' }).focus();
    await page.locator('.tools').waitFor({ state: 'detached' });
    await page.locator('li[data-message-id=m1]').focus();
    await press('Quote');
    await hasFocus('.composer textarea');
  });

  test('closing a picture by its button returns the focus to its tile', async () => {
    server.show(messageView({ images: [{ url: '/images/1', alt: 'Boat' }] }));
    for (const key of ['Enter', 'Escape']) {
      await button('Open image: Boat').focus();
      await page.keyboard.press('Enter');
      await page.getByRole('dialog', { name: 'Boat' }).waitFor();
      await page.keyboard.press(key);
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      await hasFocus('.image-tile');
    }
  });

  test('a narrow page moves between list and conversation together with the focus', async () => {
    await context.close();
    await open(600);
    await page.locator('[data-kind=group]').focus();
    await page.keyboard.press('Enter');
    await hasFocus('.composer textarea');
    await press('Back to conversations');
    await hasFocus('.conversation');
  });

  test('all controls are at least 24 pixels, and forced colours keep a visible focus', async () => {
    await context.close();
    await open(600);
    await page.locator('[data-kind=private]').click();
    server.refuseSends({ status: 500, code: 'internal', message: 'Something went wrong' });
    await page.keyboard.type('Hello');
    await page.keyboard.press('Enter');
    await button('Try again').waitFor();
    server.refuseSends(undefined);
    const small = `[...document.querySelectorAll('button, select, textarea, summary')]
      .map((one) => [one.className || one.tagName, one.getBoundingClientRect()])
      .filter(([, { width, height }]) => width > 0 && Math.min(width, height) < 24).map(([name]) => name)`;
    expect(await page.evaluate(small)).toEqual([]);
    await page.emulateMedia({ forcedColors: 'active' });
    await page.getByRole('textbox', { name: 'Message' }).focus();
    expect(await page.evaluate("getComputedStyle(document.querySelector('.composer')).outlineStyle")).toBe('solid');
    expect(await page.evaluate("getComputedStyle(document.querySelector('.bubble')).borderTopStyle")).toBe('dashed');
  });

  test('an answer is announced once, when it is complete, and fetched messages are not', async () => {
    server.messages.set(PRIVATE.id, [messageView({ id: 'old', text: 'Long ago' })]);
    await page.reload();
    await page.getByText('Long ago').waitFor();
    await page.evaluate(`
      window.said = [];
      new MutationObserver(() => said.push(document.querySelector('.announced').dataset.said))
        .observe(document.querySelector('.announced'), { attributes: true });
    `);
    for (const text of ['**One**', '**One** two', '**One** two three']) {
      grow(text);
      await page.locator('li[data-message-id=m1]').getByText('One').waitFor();
    }
    grow('**One** two three', 'final');
    server.show(messageView({ id: 'm2', sender: BOB.id, senderName: BOB.name, text: 'Hi', atMs: Date.now() }));
    await page.locator('.announced[data-said$="Hi"]').waitFor({ state: 'attached' });
    expect(await page.evaluate('said')).toEqual(['Parley: One two three', 'Bob Miller: Hi']);
    expect(await page.getByRole('log', { name: 'Messages' }).getAttribute('aria-live')).toBe('off');
    expect(await liveWords(await context.newCDPSession(page))).toContain('Bob Miller: Hi');
  });
});

/** The texts that assistive technology finds on the page, including those from the style sheet. */
async function liveWords(session: CDPSession): Promise<string[]> {
  const { nodes } = await session.send('Accessibility.getFullAXTree');
  return nodes.map(({ name }) => String(name?.value ?? ''));
}
