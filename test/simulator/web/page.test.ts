import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import axe, { type AxeResults } from 'axe-core';
import type { BrowserContext, Page } from 'playwright-core';
import { findChromium } from '../../support/chromium.ts';
import { ALICE, BOOTSTRAP, GROUP, messageView, PRIVATE } from './sample-views.ts';
import { usePageServer } from './use-page-server.ts';

const withBrowser = findChromium() === undefined ? describe.skip : describe;

withBrowser('the page in a browser', () => {
  const { server, newContext } = usePageServer({ bootstrap: BOOTSTRAP, conversations: [PRIVATE, GROUP] });
  let context: BrowserContext;
  let page: Page;
  const faults: string[] = [];

  beforeEach(async () => {
    server.calls.length = 0;
    server.refuseSends(undefined);
    server.messages.set(PRIVATE.id, []).set(GROUP.id, []);
    context = await newContext({ viewport: { width: 1200, height: 850 }, locale: 'en-GB' });
    page = await openTab('?person=alice');
  });
  afterEach(async () => {
    await context.close();
    // Violations of the page's content policy are reported here, too.
    expect(faults.splice(0)).toEqual([]);
  });

  async function openTab(address: string): Promise<Page> {
    const tab = await context.newPage();
    tab.on('pageerror', (error) => faults.push(error.message));
    await tab.goto(server.url + '/' + address);
    await composer(tab).waitFor();
    await tab.locator('.load-state').waitFor({ state: 'detached' });
    return tab;
  }
  const composer = (tab = page) => tab.getByRole('textbox', { name: 'Message' });
  const rows = (tab = page) => tab.getByRole('log', { name: 'Messages' }).getByRole('listitem');
  const sent = () => server.calls.filter(({ path }) => path.endsWith('/messages')).map(({ body }) => body);
  const openGroup = () => page.getByRole('navigation', { name: 'Conversations' }).locator('[data-kind=group]').click();

  test('has the names and attributes that people and tests rely on, in both languages', async () => {
    const chinese = await newContext({ locale: 'zh-CN' });
    const tab = await chinese.newPage();
    await tab.goto(`${server.url}/?person=alice`);
    for (const one of [page, tab]) {
      await composer(one).waitFor();
      expect(await one.getByRole('combobox', { name: 'Signed in as' }).inputValue()).toBe('alice');
      expect(await one.getByRole('navigation', { name: 'Conversations' }).getByRole('button').count()).toBe(2);
      await one.getByRole('button', { name: 'Send' }).waitFor();
      expect(await one.locator('html').getAttribute('data-bot-name')).toBe('Parley');
    }
    expect(await tab.locator('html').getAttribute('lang')).toBe('zh-Hans');
    await tab.getByText('私聊', { exact: true }).waitFor();
    await chinese.close();
  });

  test('sends with Enter, breaks lines with Shift+Enter, and shows only the text of a growing answer', async () => {
    await composer().pressSequentially('Hello');
    await composer().press('Shift+Enter');
    await composer().pressSequentially('there');
    await composer().press('Enter');
    await page.locator('li[data-sender=alice][data-delivery=sent]').waitFor();
    const clientId = expect.stringMatching(/^[\w-]{20,64}$/);
    expect(sent()).toEqual([{ person: 'alice', text: 'Hello\nthere', images: [], clientId }]);
    const answer = page.locator('li[data-message-id=m1]');
    server.show(messageView({ state: 'streaming', text: '', thinking: 'Let me see', atMs: Date.now() }));
    await page.locator('li[data-message-id=m1] details').waitFor();
    server.show(messageView({ state: 'streaming', text: 'One **two**', thinking: 'Let me see', atMs: Date.now() }));
    await answer.getByText('two').waitFor();
    expect((await answer.innerText()).trim()).toBe('One two');
    await answer.getByRole('button', { name: 'Stop' }).click();
    server.show(messageView({ text: 'One **two**\n\nthree', canRate: true, atMs: Date.now() }));
    await page.locator('li[data-message-id=m1][data-state=final]').hover();
    await answer.getByRole('button', { name: 'Good answer' }).click();
    expect((await answer.innerText()).replace(/\s+/g, ' ').trim()).toBe('One two three');
    expect(await answer.textContent()).not.toContain('Let me see');
    expect(sent().at(-1)).toMatchObject({ text: '/stop' });
    const rated = () => server.calls.find(({ path }) => path === '/api/messages/m1/rate');
    await expectSoon(() => expect(rated()?.body).toEqual({ person: 'alice', rating: 'good' }));
  });

  test('does not send while an input method composes', async () => {
    await composer().focus();
    const keyboard = await context.newCDPSession(page);
    await keyboard.send('Input.imeSetComposition', { text: 'ni', selectionStart: 2, selectionEnd: 2 });
    await composer().dispatchEvent('keydown', { key: 'Enter', isComposing: true });
    await keyboard.send('Input.insertText', { text: '你好' });
    expect(sent()).toEqual([]);
    await composer().press('Enter');
    await page.locator('li[data-sender=alice][data-delivery=sent]').waitFor();
    expect(sent()).toMatchObject([{ text: '你好' }]);
  });

  test('offers people and slash words by keyboard in a group, and stops with a mention', async () => {
    await openGroup();
    await composer().pressSequentially('@');
    await page
      .getByRole('listbox')
      .getByRole('option', { name: /Bob Miller/ })
      .waitFor();
    await composer().press('Enter');
    expect(await composer().inputValue()).toBe('@Parley ');
    await composer().pressSequentially('/st');
    await page.getByRole('option', { name: /Stop the running answer/ }).waitFor();
    await composer().press('Tab');
    expect(await composer().inputValue()).toBe('@Parley /stop');
    await composer().fill('@Parley hi');
    await composer().press('Enter');
    await page.locator('li[data-sender=alice][data-delivery=sent]').waitFor();
    const inGroup = { conversationId: GROUP.id, state: 'streaming', text: 'Well', atMs: Date.now() } as const;
    server.show(messageView({ id: 'g1', ...inGroup }));
    await page.getByRole('button', { name: 'Stop' }).click();
    await expectSoon(() => expect(sent().at(-1)).toMatchObject({ text: '@Parley /stop' }));
  });

  test('follows the end only while the reader is there, and counts new messages', async () => {
    const long = (index: number) =>
      messageView({ id: `long-${index}`, text: `Line ${index}\n\n`.repeat(12), atMs: index });
    for (let index = 0; index < 5; index += 1) server.show(long(index));
    const list = `document.querySelector('.messages')`;
    const gap = () => page.evaluate<number>(`${list}.scrollHeight - ${list}.scrollTop - ${list}.clientHeight`);
    await rows().nth(4).waitFor();
    await expectSoon(async () => expect(await gap()).toBeLessThan(2));
    server.show(messageView({ id: 'long-4', text: 'Grown\n\n'.repeat(40), atMs: 4 }));
    await page.getByText('Grown').last().waitFor();
    await expectSoon(async () => expect(await gap()).toBeLessThan(2));
    await page.evaluate(`${list}.scrollTo(0, 200)`);
    await page.getByRole('button', { name: 'Jump to latest message' }).waitFor();
    server.show(messageView({ id: 'new', text: 'New here', atMs: 9 }));
    const chip = page.getByRole('button', { name: 'New messages (1)' });
    await chip.waitFor();
    expect(await page.evaluate(`${list}.scrollTop`)).toBe(200);
    await chip.click();
    await expectSoon(async () => expect(await gap()).toBeLessThan(2));
  });

  test('keeps a draft for each person, and two tabs can be two people', async () => {
    await composer().fill('Half a thought');
    const other = await openTab('?person=bob');
    expect(await other.getByRole('combobox', { name: 'Signed in as' }).inputValue()).toBe('bob');
    await page.getByRole('combobox', { name: 'Signed in as' }).selectOption('chen');
    await expectSoon(async () => expect(await composer().inputValue()).toBe(''));
    await page.getByRole('combobox', { name: 'Signed in as' }).selectOption('alice');
    await expectSoon(async () => expect(await composer().inputValue()).toBe('Half a thought'));
    await page.reload();
    expect(await composer().inputValue()).toBe('Half a thought');
    expect(await page.getByRole('combobox', { name: 'Signed in as' }).inputValue()).toBe('alice');
  });

  test('says why a message was not sent, and sends it again', async () => {
    server.refuseSends({ status: 429, code: 'rate', message: 'slow down' });
    await composer().fill('Hi');
    await composer().press('Enter');
    await page.getByText('Too many messages in a short time.').waitFor();
    server.refuseSends(undefined);
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.locator('li[data-sender=alice][data-delivery=sent]').waitFor();
    expect(await rows().count()).toBe(1);
    server.show(messageView({ id: 'held', sender: ALICE.id, state: 'failed', error: 'The bot is away.', text: 'x' }));
    await page.getByText('The bot is away.').waitFor();
    await page.getByRole('button', { name: 'Try again' }).click();
    await expectSoon(() => expect(server.calls.map(({ path }) => path)).toContain('/api/messages/held/resend'));
  });

  test('opens links of the bot in the in-app browser and closes it', async () => {
    server.show(messageView({ text: '[sign in](http://127.0.0.1:9/link/x) or [read](https://docs.example/)' }));
    await page.getByRole('link', { name: 'sign in' }).click();
    const frame = page.locator('iframe[title="In-app browser"]');
    await frame.waitFor();
    expect(await frame.getAttribute('sandbox')).toBe('allow-forms allow-same-origin allow-scripts');
    await page.locator('.in-app-host', { hasText: '127.0.0.1:9' }).waitFor();
    await page.getByRole('button', { name: 'Close' }).click();
    await frame.waitFor({ state: 'detached' });
    await expectSoon(() => expect(server.calls).toContainEqual(expect.objectContaining({ method: 'DELETE' })));
  });

  test('accepts images by the button, shows them before sending, and lets the user remove them', async () => {
    const image = (name: string) => ({ name, mimeType: 'image/png', buffer: Buffer.from('png') });
    await page.locator('input[type=file]').setInputFiles([image('a.png'), image('b.png')]);
    await page.getByRole('img', { name: 'b.png' }).waitFor();
    await page.getByRole('button', { name: 'Remove image a.png' }).click();
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByRole('button', { name: /^Open image/ }).click();
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(sent()).toMatchObject([{ text: '', images: [expect.stringMatching(/^image-/)] }]);
  });

  test.each([
    ['en-GB', ['Image 1 of 2', 'Image 2 of 2'], 'Image'],
    ['zh-CN', ['第 1 张图片，共 2 张', '第 2 张图片，共 2 张'], '图片'],
  ])('gives images distinct alternative texts, %s', async (locale, two, one) => {
    const image = (url: string) => ({ url, alt: '' });
    server.messages.set(PRIVATE.id, [
      messageView({ id: 'two', images: [image('/images/x'), image('/images/y')], atMs: 1 }),
      messageView({ id: 'one', images: [image('/images/x')], atMs: 2 }),
    ]);
    const other = await newContext({ locale });
    const tab = await other.newPage();
    await tab.goto(`${server.url}/?person=alice`);
    await tab.locator('.image-tile').nth(2).waitFor();
    const shown = await tab.locator('.image-tile img').all();
    const alts = await Promise.all(shown.map((element) => element.getAttribute('alt')));
    expect(alts).toEqual([...two, one]);
    await other.close();
  });

  test('reconnects after a broken stream, with the missed events', async () => {
    const missed = messageView({ id: 'missed', text: 'While you were away' });
    server.messages.set(PRIVATE.id, [missed]);
    server.dropStreams();
    await page.getByText('While you were away').waitFor();
    server.emit({ name: 'bot', data: { reachable: false } });
    await page.getByText('Parley cannot be reached right now').waitFor();
    server.emit({ name: 'bot', data: { reachable: true } });
    await page.getByText('Parley cannot be reached right now').waitFor({ state: 'detached' });
    // Stopped on purpose: running answers end first, and then the page says how to continue.
    server.emit({ name: 'stop', data: { isOver: false } });
    await page.getByText('Running answers are finished first').waitFor();
    server.standStill(true);
    server.dropStreams();
    await page.getByText('Run “npm start”').waitFor();
    server.standStill(false);
    await page.getByText('Run “npm start”').waitFor({ state: 'detached' });
  });

  test('treats silence as a lost connection, and reconnects with the missed events', async () => {
    await page.clock.install();
    await page.reload();
    await composer().waitFor();
    server.standStill(true);
    await page.clock.fastForward(12_000);
    await page.getByText('Connection to the messenger lost').waitFor();
    server.messages.set(PRIVATE.id, [messageView({ text: 'While it stood still' })]);
    server.standStill(false);
    await page.clock.runFor(2_000);
    await page.getByText('While it stood still').waitFor();
    await page.getByText('Connection to the messenger lost').waitFor({ state: 'detached' });
  });

  test('asks one of the example questions on a press', async () => {
    await page.getByRole('button', { name: 'What can you help me with?' }).click();
    await page.locator('li[data-sender=alice][data-delivery=sent]').waitFor();
    expect(sent()).toMatchObject([{ text: 'What can you help me with?' }]);
    expect(await page.locator('.first-run').count()).toBe(0);
  });

  test('shows markup of a message as text', async () => {
    server.show(messageView({ text: '<img src=x onerror="document.title=1"> <b>bold</b>' }));
    await page.getByText('<b>bold</b>').waitFor();
    expect(await rows().locator('img').count()).toBe(0);
  });

  test.each([
    { scheme: 'light', width: 1200 },
    { scheme: 'dark', width: 1200 },
    { scheme: 'dark', width: 390 },
  ] as const)('has no axe findings, $scheme at $width pixels', async ({ scheme, width }) => {
    await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' });
    server.show(messageView({ id: 'line', sender: 'system', text: 'You are signed in.' }));
    server.show(messageView({ id: 'rich', text: RICH_TEXT, thinking: 'Hm', canRate: true, rating: 'good', atMs: 2 }));
    const image = { url: '/images/x', alt: 'A cat' };
    server.show(messageView({ id: 'own', sender: 'alice', state: 'failed', error: 'Away.', images: [image], atMs: 3 }));
    server.show(messageView({ id: 'grows', state: 'streaming', text: 'And [sign in](http://127.0.0.1:9/)', atMs: 4 }));
    await page.locator('li[data-message-id=grows]').waitFor();
    expect(await page.getByRole('note').innerText()).toBe('You are signed in.');
    expect(await page.getByRole('log').locator('ol > li[data-message-id]').count()).toBe(3);
    await page.setViewportSize({ width, height: 850 });
    await page.getByRole('main').getByRole('heading', { level: 1 }).first().waitFor();
    if (width < 721) expect(await findings(page)).toEqual([]);
    if (width < 721) await page.locator('[data-kind=private]').click();
    await page.locator('li[data-message-id=grows]').hover();
    await composer().pressSequentially('/');
    server.emit({ name: 'bot', data: { reachable: false } });
    await page.locator('.banner').waitFor();
    expect(await findings(page)).toEqual([]);
  });

  test('draws formulas once one is in view, with its own fonts, and names them for screen readers', async () => {
    const loaded: string[] = [];
    page.on('request', (request) => loaded.push(request.url()));
    page.on('console', (message) => faults.push(...(message.type() === 'error' ? [message.text()] : [])));
    const above = messageView({ id: 'm0', text: 'Here $x_0$' });
    const tall = messageView({
      id: 'm1',
      text: Array.from({ length: 60 }, (_, index) => `Line ${index}`).join('\n\n'),
    });
    server.messages.set(PRIVATE.id, [above, tall]);
    await page.reload();
    await rows().nth(1).waitFor();
    server.show(messageView({ id: 'm2', text: 'It costs $5 and $10.' }));
    await rows().nth(2).waitFor();
    expect(loaded.filter((url) => /katex|draw-formula/.test(url))).toEqual([]);
    const text = 'So\n\n$$\\vec{v} = \\sqrt{\\frac{a}{b}}$$\n\nand \\(\\nosuch\\)\n\n- [x] Read';
    server.show(messageView({ id: 'm3', text, atMs: Date.now() }));
    await rows().nth(3).locator('.katex').waitFor();
    await page.locator('li[data-message-id=m0]').scrollIntoViewIfNeeded();
    await page.locator('li[data-message-id=m0] .katex').waitFor();
    await rows().nth(3).getByText('\\(\\nosuch\\)').waitFor();
    const { width = 0 } = (await rows().nth(3).locator('.katex-html svg').first().boundingBox()) ?? {};
    expect(width).toBeGreaterThan(1);
    expect(await page.locator('[data-style]').count()).toBe(0);
    await page.evaluate('document.fonts.ready');
    expect(loaded.some((url) => /KaTeX_Main-Regular-\w+\.woff2$/.test(url))).toBe(true);
    expect(loaded.filter((url) => !url.startsWith(server.url))).toEqual([]);
    expect(await page.getByRole('math').count()).toBe(2);
    expect(await page.getByRole('checkbox', { name: 'Read', checked: true }).isDisabled()).toBe(true);
  });

  test('shows the list on a phone, then the conversation, and goes back', async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    const list = page.getByRole('navigation', { name: 'Conversations' });
    await list.locator('[data-kind=group]').click();
    await composer().waitFor();
    expect(await list.isVisible()).toBe(false);
    await page.getByRole('button', { name: 'Back to conversations' }).click();
    await list.waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
  });
});

const RICH_TEXT = [
  '# Title',
  'A [link](https://docs.example/) and `code`.',
  '- one',
  '| a | b |\n|---|---|\n| 1 | 2 |',
  '```ts\nconst a = 1;\n```',
  '> quoted',
].join('\n\n');

/** The findings of axe-core at any severity, each with its place. */
async function findings(tab: Page): Promise<string[]> {
  // Colours in transition are neither the old nor the new ones.
  await tab.evaluate('Promise.allSettled(document.getAnimations().map(({ finished }) => finished))');
  await tab.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
  await tab.evaluate(axe.source);
  const result = await tab.evaluate<AxeResults>('axe.run()');
  return result.violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id}: ${target.join(' ')}`));
}

/** Repeats an expectation until it holds or a second has passed. */
async function expectSoon(check: () => void | Promise<void>): Promise<void> {
  const untilMs = Date.now() + 1_000;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() > untilMs) throw error;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}
