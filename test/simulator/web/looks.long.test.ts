import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { BrowserContext, Page } from 'playwright-core';
import { findChromium } from '../../support/chromium.ts';
import { ALICE, BOOTSTRAP, CHEN, GROUP, messageView, PRIVATE } from './sample-views.ts';
import { usePageServer } from './use-page-server.ts';

const withBrowser = findChromium() === undefined ? describe.skip : describe;
const LEFT = { ...CHEN, id: 'left', name: 'Lee Left', isInactive: true };

withBrowser('the display of messages', () => {
  const { server, newContext } = usePageServer({
    bootstrap: { ...BOOTSTRAP, people: [...BOOTSTRAP.people, LEFT] },
    conversations: [PRIVATE, GROUP],
  });
  let context: BrowserContext;
  let page: Page;
  const refused: string[] = [];

  beforeEach(() => open('en-US'));
  afterEach(async () => {
    await context.close();
    expect(refused.splice(0)).toEqual([]);
  });

  async function open(locale: string, width = 1200): Promise<void> {
    server.calls.length = 0;
    server.messages.set(PRIVATE.id, []).set(GROUP.id, []);
    context = await newContext({ viewport: { width, height: 850 }, locale, timezoneId: 'Asia/Shanghai' });
    page = await context.newPage();
    // Violations of the content policy are reported here.
    page.on('console', (said) => {
      if (said.text().includes('Content Security Policy')) refused.push(said.text());
    });
    await page.goto(`${server.url}/?person=alice`);
    if (width < 721) await page.locator('[data-kind=private]').click();
    await page.getByRole('textbox', { name: 'Message' }).waitFor();
    await page.locator('.load-state').waitFor({ state: 'detached' });
  }
  async function reopen(locale: string, width?: number): Promise<void> {
    await context.close();
    await open(locale, width);
  }
  const style = (selector: string, property: string) =>
    page.evaluate<string>(`getComputedStyle(document.querySelector('${selector}')).${property}`);
  const boxOf = async (selector: string, index = 0) => {
    const box = await page.locator(selector).nth(index).boundingBox();
    if (box === null) throw new Error(`${selector} is not seen`);
    return { ...box, right: box.x + box.width, bottom: box.y + box.height };
  };

  test('table columns keep their alignment', async () => {
    server.show(messageView({ text: '| a | b | c |\n|:--|--:|:-:|\n| 1 | 2 | 3 |' }));
    await page.locator('td').nth(2).waitFor();
    const sides = "[...document.querySelectorAll('td')].map((cell) => getComputedStyle(cell).textAlign)";
    expect(await page.evaluate(sides)).toEqual(['left', 'right', 'center']);
  });

  test('right-to-left texts begin at the right, in messages and in the composer, but code never does', async () => {
    server.show(messageView({ id: 'he', text: 'שלום עולם\n\n- אחת\n\n```js\nlet a = 1;\n```\n\nEnglish again' }));
    server.show(messageView({ id: 'own', sender: ALICE.id, text: 'مرحبا بالعالم\nثانية' }));
    await page.locator('li[data-message-id=own] .plain').waitFor();
    expect(await style('.block', 'direction')).toBe('rtl');
    expect(await style('.block:nth-of-type(4)', 'direction')).toBe('ltr');
    expect(await style('.code', 'direction')).toBe('ltr');
    expect(await style('.plain', 'direction')).toBe('rtl');
    await page.getByRole('textbox', { name: 'Message' }).fill('שלום');
    expect(await style('.composer textarea', 'direction')).toBe('rtl');
  });

  test.each([1, 2, 3, 5])('%i images fill the width of their bubble', async (count) => {
    const images = Array.from({ length: count }, (_, index) => ({ url: `/images/${index}`, alt: `Image ${index}` }));
    server.show(messageView({ id: 'own', sender: ALICE.id, text: '', images }));
    await page
      .locator('.image-tile img')
      .nth(count - 1)
      .waitFor();
    const bubble = await boxOf('.own .bubble');
    const frame = { left: bubble.x + 12, right: bubble.right - 12, top: bubble.y + 8, bottom: bubble.bottom - 8 };
    const tiles = await Promise.all(Array.from({ length: count }, (_, index) => boxOf('.image-tile img', index)));
    const rows = new Map<number, typeof tiles>();
    for (const tile of tiles) rows.set(Math.round(tile.y), [...(rows.get(Math.round(tile.y)) ?? []), tile]);
    for (const row of rows.values()) {
      expect(Math.min(...row.map(({ x }) => x)) - frame.left).toBeLessThan(2);
      expect(frame.right - Math.max(...row.map(({ right }) => right))).toBeLessThan(2);
      const heights = row.map(({ height }) => height);
      expect(Math.max(...heights) - Math.min(...heights)).toBeLessThan(1);
    }
    const filled = [...rows.values()].reduce((sum, [tile]) => sum + (tile?.height ?? 0), 0);
    expect(frame.bottom - frame.top - filled - 4 * (rows.size - 1)).toBeLessThan(count === 1 ? 40 : 3);
  });

  test.each([1200, 320])('the tools of a message cover no neighbour, at %i pixels', async (width) => {
    await reopen('en-US', width);
    const long = 'A sentence that is long enough to fill its line to the very end. '.repeat(width < 721 ? 2 : 4);
    for (let index = 0; index < 6; index += 1) {
      const sender = index % 2 === 0 ? 'bot' : ALICE.id;
      server.show(messageView({ id: `m${index}`, sender, text: index < 3 ? long : 'Hi', canRate: true, atMs: index }));
    }
    await page.locator('li[data-message-id=m5]').waitFor();
    for (let index = 0; index < 6; index += 1) {
      await page.locator(`li[data-message-id=m${index}]`).hover();
      const tools = await boxOf('.tools');
      for (let other = 0; other < 6; other += 1) {
        if (other === index) continue;
        const row = await boxOf(`li[data-message-id=m${other}] .bubble`);
        const apart = tools.bottom <= row.y || tools.y >= row.bottom || tools.right <= row.x || tools.x >= row.right;
        expect([index, other, apart]).toEqual([index, other, true]);
      }
      expect(tools.x).toBeGreaterThanOrEqual(0);
      expect(tools.right).toBeLessThanOrEqual(width);
      const own = await boxOf(`li[data-message-id=m${index}] .bubble`);
      if (width === 1200) expect(tools.x >= own.right || tools.right <= own.x).toBe(true);
    }
  });

  test('a copied text is confirmed at the button and announced', async () => {
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    server.show(messageView({ text: 'Code:\n\n```js\nlet a = 1;\n```' }));
    const code = page.getByRole('button', { name: 'Copy code' });
    const said = page.locator('.code .said[data-said="Copied"]');
    // It is shown for moments only.
    const seen = said.waitFor().then(() => Promise.all([said.boundingBox(), said.getAttribute('role')]));
    await code.click();
    const [near, role] = await seen;
    const button = await code.boundingBox();
    expect(Math.abs((near?.y ?? 0) - (button?.y ?? 999))).toBeLessThan(20);
    expect(role).toBe('status');
    expect(await page.evaluate<string>('navigator.clipboard.readText()')).toBe('let a = 1;\n');
    const copied = page.locator('.tools .said[data-said="Copied"]').waitFor();
    await page.getByRole('button', { name: 'Copy message' }).click();
    await copied;
    expect(await page.locator('.notice').count()).toBe(0);
  });

  test('code is coloured while it grows, readable in light and dark', async () => {
    const code = '```python\n# a comment\ndef f(x):\n    return "s" + str(1.5)';
    server.show(messageView({ state: 'streaming', text: `${code}\n@decorated` }));
    await page.locator('.code-comment').waitFor();
    expect(await page.locator('.code code').textContent()).toBe(
      '# a comment\ndef f(x):\n    return "s" + str(1.5)\n@decorated',
    );
    const every = ['comment', 'string', 'keyword', 'number', 'name', 'type', 'meta', 'removed', 'added'];
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      const contrasts = await page.evaluate<Record<string, number>>(
        `(${contrastsIn.toString()})(${JSON.stringify(every)})`,
      );
      for (const name of every) expect([name, contrasts[name]! >= 4.5]).toEqual([name, true]);
    }
  });

  test('code is aligned in columns, with Chinese characters two columns wide', async () => {
    server.show(messageView({ text: '```\niiiiiiii\nMMMMMMMM\n```\n\n`iiii` `MMMM`' }));
    await page.locator('code').nth(2).waitFor();
    const widths = await page.evaluate<number[]>(`(() => {
      const code = document.querySelector('.code code');
      return ['iiiiiiii', 'MMMMMMMM', '0123 -_=', '中文中文'].map((words) => {
        const piece = document.createElement('span');
        piece.textContent = words;
        code.append(piece);
        return piece.getBoundingClientRect().width;
      });
    })()`);
    const [thin, wide, mixed] = widths;
    expect(thin).toBeGreaterThan(40);
    expect(wide).toBeCloseTo(thin ?? 0, 1);
    expect(mixed).toBeCloseTo(thin ?? 0, 1);
  });

  test('a mention is highlighted', async () => {
    server.show(messageView({ sender: ALICE.id, text: 'Ask @Parley or @陈晓明吧' }));
    await page.locator('.mention').nth(1).waitFor();
    expect(await page.locator('.mention').allInnerTexts()).toEqual(['@Parley', '@陈晓明']);
  });

  test.each([
    ['en-US', 'en', '6:10 PM', []],
    ['zh-CN', 'zh-Hans', '18:10', ['当前身份', '会话列表', '消息记录', '消息', '发送']],
  ] as const)("times and names use the reader's language, %s", async (locale, lang, time, descriptions) => {
    await reopen(locale);
    server.show(messageView({ atMs: Date.UTC(2026, 0, 5, 10, 10) }));
    await page.locator('li[data-message-id=m1]').hover();
    const shown = (await page.locator('.time').first().getAttribute('data-time')) ?? '';
    expect(shown.replace(/\s/g, ' ')).toBe(time);
    expect(await page.locator('html').getAttribute('lang')).toBe(lang);
    const described = await page.locator('[aria-description]').all();
    expect(await Promise.all(described.map((one) => one.getAttribute('aria-description')))).toEqual(descriptions);
  });

  test('a closed account is explained in the choice of users', async () => {
    const picker = page.getByRole('combobox', { name: 'Signed in as' });
    expect(await picker.locator('option').allInnerTexts()).toContain('Lee Left · 信息中心 · deactivated');
    expect(await page.locator('.person-note').count()).toBe(0);
    await picker.selectOption(LEFT.id);
    await page.getByText('This account is deactivated in the directory').waitFor();
  });
});

/** The contrast of each code token to its background by the WCAG formula. Runs in the page. */
function contrastsIn(names: string[]): Record<string, number> {
  const luminance = (colour: string): number => {
    const [red = 0, green = 0, blue = 0] = (/\((.*)\)/.exec(colour)?.[1] ?? '').split(/[ ,]+/).map((part) => {
      const share = Number(part) / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const { document, getComputedStyle } = globalThis as unknown as {
    document: {
      querySelector(selector: string): { append(child: object): void };
      createElement(name: string): { className: string };
    };
    getComputedStyle(element: object): { color: string; backgroundColor: string };
  };
  const box = document.querySelector('.code');
  const behind = luminance(getComputedStyle(box).backgroundColor);
  const contrasts = names.map((name) => {
    const piece = document.createElement('span');
    piece.className = `code-${name}`;
    document.querySelector('.code code').append(piece);
    const before = luminance(getComputedStyle(piece).color);
    return [name, (Math.max(before, behind) + 0.05) / (Math.min(before, behind) + 0.05)];
  });
  return Object.fromEntries(contrasts) as Record<string, number>;
}
