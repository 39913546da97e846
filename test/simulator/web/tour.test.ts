import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import axe, { type AxeResults } from 'axe-core';
import type { BrowserContext, Locator, Page } from 'playwright-core';
import { findChromium } from '../../support/chromium.ts';
import { BOOTSTRAP, GROUP, messageView, PRIVATE } from './sample-views.ts';
import { usePageServer } from './use-page-server.ts';

const withBrowser = findChromium() === undefined ? describe.skip : describe;

withBrowser('the tour of local mode', () => {
  const { server, newContext } = usePageServer({
    bootstrap: { ...BOOTSTRAP, isLocal: true },
    conversations: [PRIVATE, GROUP],
  });
  let context: BrowserContext;
  let page: Page;
  const faults: string[] = [];

  beforeEach(async () => {
    server.calls.length = 0;
    server.messages.set(PRIVATE.id, []).set(GROUP.id, []);
    context = await newContext({ viewport: { width: 1200, height: 850 }, locale: 'en-GB' });
    page = await openTab('?person=alice');
  });
  afterEach(async () => {
    await context.close();
    expect(faults.splice(0)).toEqual([]);
  });

  async function openTab(address: string): Promise<Page> {
    const tab = await context.newPage();
    tab.on('pageerror', (error) => faults.push(error.message));
    await tab.goto(`${server.url}/${address}`);
    await tab.getByRole('textbox', { name: 'Message' }).waitFor();
    return tab;
  }
  const tour = (tab = page) => tab.getByRole('complementary', { name: /things to try|completed the tour/ });
  const button = (name: string | RegExp) => page.getByRole('button', { name });
  const done = (tab = page) => tour(tab).locator('li.done .tour-name');

  test('marks a step as done after its effect, not after the press', async () => {
    expect(await done().count()).toBe(0);
    await button('Ask “What can I try?”').click();
    await tour().getByText('Ask a question (done)').waitFor();
    expect(await done().count()).toBe(1);
    server.show(messageView({ state: 'streaming', text: 'Sign in: http://x.test/link/abcdefgh', atMs: Date.now() }));
    await page.locator('li[data-message-id=m1]').waitFor();
    expect(await done().count()).toBe(1);
    server.show(messageView({ text: 'Many things.', atMs: Date.now() }));
    await tour().getByText('Sign in (done)').waitFor();
    await page.getByRole('button', { name: 'Hide the tour' }).click();
    await tour().waitFor({ state: 'detached' });
    await page.reload();
    const reopen = page.getByRole('button', { name: /^Tour/, expanded: false });
    expect(await reopen.innerText()).toContain('2 of 8');
    await reopen.focus();
    await page.keyboard.press('Enter');
    await tour().getByText('Sign in (done)').waitFor();
  });

  test('shows a second person in a second tab in both tabs', async () => {
    const second = await openTab('?person=bob');
    await tour().getByText('Be two people (done)').waitFor();
    await tour(second).getByText('Be two people (done)').waitFor();
  });

  test('kills the bot during an answer, and reports the measurements in three lines', async () => {
    expect(await button('Kill the bot now').isDisabled()).toBe(true);
    await button('Ask for a long answer').click();
    const grow = (text: string, state: 'streaming' | 'final' = 'streaming') =>
      server.show(messageView({ state, text, atMs: Date.now() }));
    grow('1 2 3');
    await button('Kill the bot now').click();
    await tour()
      .getByText(/The worker \(process 4711\) was ended with kill -9 at \d/)
      .waitFor();
    expect(server.calls.filter(({ path }) => path === '/api/local/worker/kill')).toHaveLength(1);
    const next = { processId: 4712, afterMs: 830, takenOver: 1 };
    server.emit({ name: 'worker', data: { killedProcessId: 4711, killedAtMs: Date.now(), next } });
    await tour().getByText('Another worker (process 4712) was ready after 0.8 s and continued the answer.').waitFor();
    // As Slack shows it while another process takes over: complete for a moment, and then from the beginning.
    grow('1 2 3', 'final');
    grow('1 2');
    expect(await tour().locator('.kill-lines').innerText()).toContain('is about to continue');
    for (const text of ['1 2 3 4', '1 2 3 4 5']) {
      grow(text);
      await page.locator('li[data-message-id=m1]').getByText(text).waitFor();
    }
    grow('1 2 3 4 5 6', 'final');
    await tour()
      .getByText(
        /The answer continued after \d+\.\d s in the same message and is complete: nothing was lost or repeated\./,
      )
      .waitFor();
    await tour().getByText('Kill the bot (done)').waitFor();
    expect(await tour().locator('.kill-lines li').count()).toBe(3);
  });

  test('does not deny a repetition if there was one', async () => {
    await button('Ask for a long answer').click();
    await page.locator('li[data-sender=alice]').waitFor();
    server.show(messageView({ state: 'streaming', text: '1 2 3', atMs: Date.now() }));
    await button('Kill the bot now').click();
    const next = { processId: 4712, afterMs: 830, takenOver: 1 };
    server.emit({ name: 'worker', data: { killedProcessId: 4711, killedAtMs: Date.now(), next } });
    await tour()
      .getByText(/and continued the answer/)
      .waitFor();
    server.show(messageView({ text: '1 2 3 4', atMs: Date.now() }));
    server.show(messageView({ id: 'm2', text: '1 2 3 4', atMs: Date.now() }));
    await tour()
      .getByText(/The answer continued after/)
      .waitFor();
    expect(await tour().locator('.kill-lines').innerText()).not.toContain('repeated');
  });

  test('does not report an answer as complete if it was stopped after the kill', async () => {
    await button('Ask for a long answer').click();
    await page.locator('li[data-sender=alice]').waitFor();
    server.show(messageView({ state: 'streaming', text: '1 2 3', atMs: Date.now() }));
    await button('Kill the bot now').click();
    const next = { processId: 4712, afterMs: 830, takenOver: 1 };
    server.emit({ name: 'worker', data: { killedProcessId: 4711, killedAtMs: Date.now(), next } });
    await tour()
      .getByText(/and continued the answer/)
      .waitFor();
    server.show(messageView({ text: '1 2 3 4\n\nStopped.', atMs: Date.now() }));
    await tour()
      .getByText(/in the same message (?:until you stopped it|and is complete)/)
      .waitFor();
    const told = await tour().locator('.kill-lines').innerText();
    expect(told).toMatch(
      /continued after \d+\.\d s in the same message until you stopped it: nothing was lost or repeated/,
    );
  });

  test('keeps the next action visible at its end, in a panel of any height', async () => {
    await page.setViewportSize({ width: 1200, height: 480 });
    const done = ['ask', 'signIn', 'mention', 'image', 'stop', 'tryAgain', 'kill'];
    await page.evaluate(`localStorage.setItem('tour', '${JSON.stringify({ done, isHidden: false })}')`);
    await page.reload();
    await tour().getByText('Kill the bot (done)').waitFor();
    await openTab('?person=bob');
    const nextThing = tour().getByRole('button', { name: 'How do I connect you to WeCom?' });
    await nextThing.waitFor();
    const bottomOf = async (place: Locator) => {
      const box = await place.boundingBox();
      return box ? box.y + box.height : Number.NaN;
    };
    expect(await bottomOf(nextThing)).toBeLessThanOrEqual(await bottomOf(tour()));
  });

  test("connects the user's own model: shows a fault as a sentence, and does not store the key on the page", async () => {
    await button('Connect your own model').click();
    const dialog = page.getByRole('dialog', { name: 'Your own model' });
    await dialog.getByLabel('Address').fill('https://wrong.example/v1');
    await dialog.getByLabel(/^Key/).fill('sk-typed-0123456789');
    await page.keyboard.press('Enter');
    await dialog.getByText('The service refuses the key (401).').waitFor();
    await dialog.getByLabel('Address').fill('https://right.example/v1');
    expect(await dialog.getByRole('button', { name: 'Done' }).count()).toBe(0);
    await dialog.getByRole('button', { name: 'Test and use' }).click();
    await dialog.getByText('big-1 works and is now in use.').waitFor();
    expect(await dialog.getByRole('button', { name: 'Cancel' }).count()).toBe(0);
    await dialog.getByRole('button', { name: 'Done' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByText('big-1 at right.example answers.').waitFor();
    expect(await page.content()).not.toContain('sk-typed');
    expect(await page.evaluate('JSON.stringify({ ...localStorage, ...sessionStorage })')).not.toContain('sk-typed');
  });

  test('offers the engines on this computer with one press, says where it looked, and when one has disappeared', async () => {
    await button('Connect your own model').click();
    const dialog = page.getByRole('dialog', { name: 'Your own model' });
    await dialog
      .getByText(/No engine that works without a key was found. Ports searched: 11434 \(Ollama\)\./)
      .waitFor();
    await dialog.getByText(/Port 8080 \(llama\.cpp\) is used by Parley itself/).waitFor();
    server.findEngines([], [{ port: 8081, isOurs: true }]);
    await dialog.getByRole('button', { name: 'Search again' }).press('Enter');
    await dialog
      .getByText(/^No engine that works without a key was found\. Port 8081 is used by Parley itself/)
      .waitFor();
    server.findEngines([
      { name: 'Ollama', address: 'http://127.0.0.1:11434/v1', models: ['qwen3:8b', 'b', 'c', 'd', 'e'] },
      { name: 'LM Studio', address: 'http://gone.localhost:1234/v1', models: ['other'] },
      { address: 'http://127.0.0.1:8000/v1', models: [] },
    ]);
    await dialog.getByRole('button', { name: 'Search again' }).press('Enter');
    await dialog.getByText('qwen3:8b, b, c and 2 more').waitFor();
    await dialog.getByText('no model yet').waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    expect(await dialog.getByRole('button', { name: /^Use / }).count()).toBe(2);
    await dialog.getByRole('button', { name: 'Use LM Studio at gone.localhost:1234' }).click();
    await dialog.getByText('LM Studio at gone.localhost:1234 no longer responds. Start it, then search').waitFor();
    await dialog.getByRole('button', { name: 'Use Ollama at 127.0.0.1:11434' }).press('Enter');
    await dialog.getByText('big-1 works and is now in use.').waitFor();
    const { body } = server.calls.at(-1) ?? {};
    expect(body).toEqual({ address: 'http://127.0.0.1:11434/v1', apiKey: '' });
    server.findEngines([]);
  });

  test('offers the choice of a user and a second user on the first screen', async () => {
    const who = page.getByRole('region', { name: 'Choose a user' });
    expect(await who.locator('[aria-current=true]').innerText()).toContain('Alice Wang');
    const [beside] = await Promise.all([
      context.waitForEvent('page'),
      who.getByRole('link', { name: 'Bob Miller', exact: true }).click(),
    ]);
    await beside.getByRole('combobox', { name: 'Signed in as' }).waitFor();
    expect(await beside.getByRole('combobox', { name: 'Signed in as' }).inputValue()).toBe('bob');
    await who.getByRole('link', { name: /陈晓明/ }).click();
    await page.waitForURL(/person=chen/);
    expect(await page.getByRole('combobox', { name: 'Signed in as' }).inputValue()).toBe('chen');
  });

  test('is closed on a phone until it is opened, and again after an action that leads to the chat', async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    await page.locator('[data-kind=private]').click();
    await tour().waitFor({ state: 'detached' });
    await button(/^Tour/).click();
    await button('Ask “What can I try?”').click();
    await page.locator('li[data-sender=alice]').waitFor();
    expect(await tour().count()).toBe(0);
    expect(await button(/^Tour/).getAttribute('aria-expanded')).toBe('false');
    // The choice for a wide window is another one.
    await page.setViewportSize({ width: 1200, height: 850 });
    await tour().waitFor();
  });

  test('has one button that asks for a long answer', async () => {
    const done = JSON.stringify({ done: ['ask', 'signIn', 'mention', 'image'] });
    await page.evaluate(`localStorage.setItem('tour', '${done}')`);
    const tab = await openTab('?person=bob');
    await tour(tab).getByText('press Stop below it').waitFor();
    expect(await tab.getByRole('button', { name: 'Ask for a long answer' }).count()).toBe(1);
    await tab.getByRole('button', { name: 'Kill the bot now' }).waitFor();
  });

  test('is covered by the in-app browser on a phone', async () => {
    server.messages.set(PRIVATE.id, [messageView({ text: '[Sign in](http://127.0.0.1:9/link/x)' })]);
    await page.setViewportSize({ width: 390, height: 844 });
    await page.locator('[data-kind=private]').click();
    await button(/^Tour/).click();
    await tour().waitFor();
    await page.getByRole('link', { name: 'Sign in' }).click();
    await page.locator('.in-app').waitFor();
    expect(await tour().isVisible()).toBe(false);
    await page.keyboard.press('Escape');
    await tour().waitFor();
  });

  test('has no axe findings in both themes and on a phone, and does not exceed a width of 320 px', async () => {
    await button('Connect your own model').click();
    for (const [width, scheme] of [
      [1200, 'dark'],
      [390, 'light'],
      [320, 'light'],
    ] as const) {
      await page.setViewportSize({ width, height: 844 });
      await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' });
      for (const isOpen of [true, false]) {
        if (!isOpen) await page.keyboard.press('Escape');
        else if ((await page.getByRole('dialog').count()) === 0) await button('Connect your own model').click();
        expect(await seriousFindings(page)).toEqual([]);
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
      }
    }
  });
});

async function seriousFindings(page: Page): Promise<string[]> {
  await page.evaluate('Promise.allSettled(document.getAnimations().map(({ finished }) => finished))');
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate<AxeResults>('axe.run()');
  const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
  return serious.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
}
