// Takes the README's pictures from a running local mode: npm start in one terminal, npm run pictures in another.
// The messenger must be at MESSENGER_PORT (8082 unless told), with nobody signed in yet. Where it plays Slack
// (MESSENGER_PROTOCOL=slack npm start), Slack's picture is taken.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';

const url = `http://127.0.0.1:${process.env.MESSENGER_PORT ?? 8082}`;
const FLAGS = ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-sync'];
const executablePath = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium';
const OUT = 'docs/pictures';

async function withPage(options, use) {
  const context = await chromium.launchPersistentContext(mkdtempSync(join(tmpdir(), 'parley-pictures-')), {
    executablePath,
    args: FLAGS,
    headless: true,
    viewport: { width: 1200, height: 850 },
    timezoneId: 'Asia/Shanghai',
    ...options,
  });
  try {
    await use(await context.newPage());
  } finally {
    await context.close();
  }
}

async function openAs(page, person, kind = 'private') {
  await page.goto(url);
  await page.getByRole('combobox', { name: 'Signed in as' }).selectOption(person);
  await page.getByRole('navigation', { name: 'Conversations' }).locator(`[data-kind=${kind}]`).first().click();
}

async function send(page, text) {
  await page.getByRole('textbox', { name: 'Message' }).fill(text);
  await page.getByRole('button', { name: 'Send' }).click();
}

const answers = (page) => page.getByRole('log', { name: 'Messages' }).locator('[data-sender=bot]');
const answered = (page, count) =>
  answers(page)
    .and(page.locator('[data-state=final]'))
    .nth(count - 1)
    .waitFor();

async function signIn(page, picture) {
  await page.locator('a[href*="/link/"]').last().click();
  const frame = page.frameLocator('iframe');
  for (let step = 0; step < 3; step += 1) {
    const button = frame.locator('form[method=post] button').first();
    await button.waitFor();
    if (step === 0 && picture) {
      await page.waitForTimeout(600);
      await page.screenshot({ path: `${OUT}/${picture}` });
    }
    await button.click();
    await page.waitForTimeout(700);
  }
  await page
    .getByRole('button', { name: /^(Close|关闭)$/ })
    .first()
    .click();
}

async function takeWecom() {
  await withPage({}, async (page) => {
    await openAs(page, 'emma.clarke');
    await send(page, 'How do I connect a real WeCom bot?');
    await page.locator('a[href*="/link/"]').waitFor();
    await signIn(page, 'sign-in.png');
    await answered(page, 1);
    await page.waitForTimeout(800);
    await page
      .locator('[role=log] [role=note]')
      .first()
      .evaluate((line) => line.scrollIntoView({ block: 'start' }));
    await page.waitForTimeout(400);
    await page.screenshot({ path: `${OUT}/messenger.png` });
  });

  await withPage({ colorScheme: 'dark', locale: 'zh-CN' }, async (page) => {
    await openAs(page, 'zhangwei');
    await send(page, '你好');
    await page.locator('a[href*="/link/"]').waitFor();
    await signIn(page);
    await answered(page, 1);
    await openAs(page, 'zhangwei', 'group');
    await send(page, '下午三点系统维护，请大家提前保存。');
    await send(page, '@Parley 如何查看我登录的身份？');
    await answered(page, 1);
    await page.waitForTimeout(800);
    await page.screenshot({ path: `${OUT}/group-dark.png` });
  });
}

/** The code that proves who asks is typed in the chat, beside the page that shows it. */
async function takeSlack() {
  await withPage({}, async (page) => {
    await openAs(page, 'emma.clarke');
    await send(page, 'What can you help me with?');
    await page.locator('a[href*="/link/"]').click();
    const frame = page.frameLocator('iframe');
    const press = (name) => frame.getByRole('button', { name }).first().click();
    await press(/continue/i);
    await frame.locator('input[name=password]').waitFor();
    const [username, password] = await page.locator('.login-hint dd').allInnerTexts();
    await frame.locator('input[name=username]').fill(username);
    await frame.locator('input[name=password]').fill(password);
    await press(/sign in/i);
    await press(/allow/i);
    await press(/code/i);
    await send(page, await frame.locator('.symbols').innerText());
    await answered(page, 2);
    await page.getByRole('textbox', { name: 'Message' }).blur();
    await page.mouse.move(0, 0);
    await page.waitForTimeout(800);
    await page.screenshot({ path: `${OUT}/slack.png` });
  });
}

const { protocol } = await (await fetch(`${url}/api/bootstrap`)).json();
await (protocol === 'slack' ? takeSlack() : takeWecom());
