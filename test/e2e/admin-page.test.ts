import { createRequire } from 'node:module';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { ADMIN_ACCOUNT, TYPED_LOGINS } from '../support/admin-people.ts';
import { ADMIN_POLICY, storeAdminData } from '../support/admin-sign-in.ts';
import { findChromium, launchChromium } from '../support/chromium.ts';
import { startDeployment, untilTrue, type Deployment } from '../support/deployment.ts';
import { startParleyProcess, type ParleyProcess } from '../support/parley-process.ts';

/** Folder for screenshots of every page; unset for none. */
const PICTURES = process.env['PICTURES_DIR'];
const AXE_SOURCE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const PATHS = [
  ...['', '/trace', '/dead-letters', '/pauses', '/budgets', '/budgets?of=model&name=svc-plus'],
  ...['/usage', '/usage?by=department', '/unanswered', '/people'],
];
const SIZES = { wide: { width: 1280, height: 860 }, phone: { width: 390, height: 844 } };

const describeInChromium = findChromium() === undefined ? describe.skip : describe;

/** A receiver in a process of its own, so that its question waits for a worker. */
describeInChromium('the admin page in Chromium', () => {
  let deployment: Deployment;
  let parley: ParleyProcess;
  let browser: Browser;
  let signedIn: Awaited<ReturnType<BrowserContext['storageState']>>;
  let reference: string;
  let letter: string;
  const folder = mkdtempSync(join(tmpdir(), 'parley-admin-page-'));
  const addressOf = (path: string) => `${deployment.botUrl}/admin${path}`;

  beforeAll(async () => {
    const policyFile = join(folder, 'policy.json');
    writeFileSync(policyFile, JSON.stringify(ADMIN_POLICY));
    const env = { ROLES: 'receiver', ADMIN_IDS: ADMIN_ACCOUNT, POLICY_FILE: policyFile };
    deployment = await startDeployment({ startsBot: false, env });
    parley = await startParleyProcess({ env: deployment.env, until: /is running|has started/ });
    await untilTrue(() => deployment.messenger.driver.isBotReachable());
    await deployment.messenger.driver.send('zhangwei', 'A question that waits');
    await untilTrue(async () => (await deployment.redis.keys('{p*}:inbox:*')).length === 1);
    letter = await storeAdminData(deployment);
    const [record = ''] = await deployment.redis.keys('{p*}:message:*');
    reference = /:message:(.{8})/.exec(record)?.[1] ?? '';
    browser = await launchChromium();
  }, 90_000);
  afterAll(async () => {
    await browser.close();
    parley.kill('SIGTERM');
    await parley.ended;
    await deployment.stop();
    rmSync(folder, { recursive: true });
  }, 60_000);

  test('an administrator signs in at the service and signs out again, with the keyboard only [admin-gate]', async () => {
    const page = await (await browser.newContext({ locale: 'en-GB' })).newPage();
    await page.goto(addressOf(''));
    await page.getByRole('button', { name: /^Sign in with/ }).focus();
    await page.keyboard.press('Enter');
    // The page puts the focus there; what is typed before would be lost.
    await page
      .getByLabel(/user ?name|account/i)
      .and(page.locator(':focus'))
      .waitFor();
    await page.keyboard.type(TYPED_LOGINS.administrator.username);
    await page.keyboard.press('Tab');
    await page.keyboard.type(TYPED_LOGINS.administrator.password);
    await page.keyboard.press('Enter');
    await agreeUntilOverview(page);
    expect(
      await page.getByRole('navigation').getByRole('link', { name: 'Overview' }).getAttribute('aria-current'),
    ).toBe('page');
    const [cookie] = (await page.context().cookies(addressOf(''))).filter(({ name }) => name === '__Secure-admin');
    expect(cookie).toMatchObject({ path: '/admin', httpOnly: true, secure: true, sameSite: 'Strict' });
    signedIn = await page.context().storageState();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    expect(await page.evaluate('location.hash')).toBe('#content');
    await page.context().close();
  }, 120_000);

  async function agreeUntilOverview(page: Page): Promise<void> {
    const heading = page.getByRole('heading', { name: 'Overview', level: 1 });
    const agree = page.getByRole('button', { name: /allow|agree|continue/i });
    await agree.or(heading).first().waitFor({ timeout: 45_000 });
    if (await agree.isVisible()) await agree.click();
    await heading.waitFor({ timeout: 45_000 });
  }

  const looks = (['en-GB', 'zh-CN'] as const).flatMap((locale) =>
    (['light', 'dark'] as const).flatMap((colorScheme) =>
      (['wide', 'phone'] as const).map((size) => ({ locale, colorScheme, size })),
    ),
  );
  // Two looks that differ in everything; all eight if screenshots are taken.
  for (const { locale, colorScheme, size } of PICTURES === undefined
    ? [looks[1], looks[6]].filter((look) => !!look)
    : looks)
    test(`every page has no accessibility violations and does not scroll sideways: ${locale}, ${colorScheme}, ${size}`, async () => {
      const viewport = SIZES[size];
      const context = await browser.newContext({ locale, colorScheme, viewport, storageState: signedIn });
      const stranger = await browser.newContext({ locale, colorScheme, viewport });
      const found: string[] = [];
      const check = async (page: Page, name: string) => {
        if (PICTURES !== undefined) {
          mkdirSync(PICTURES, { recursive: true });
          const file = `${name}-${locale.slice(0, 2)}-${colorScheme}-${size}.png`;
          await page.screenshot({ path: `${PICTURES}/${file}`, fullPage: true });
        }
        if (await page.evaluate('document.documentElement.scrollWidth > window.innerWidth'))
          found.push(`${name} scrolls`);
        // The policy of the page forbids scripts in it, not those of the debugger.
        const violations = await page.evaluate(
          `(() => { ${AXE_SOURCE}; return axe.run(); })().then(({ violations }) => violations.map(({ id, impact }) => id + ' ' + impact))`,
        );
        found.push(...(violations as string[]).map((violation) => `${name} ${violation}`));
      };
      const page = await context.newPage();
      for (const path of [...PATHS, `/trace?reference=${reference}`]) {
        await page.goto(addressOf(path));
        expect(await page.locator('html').getAttribute('lang')).toBe(locale === 'zh-CN' ? 'zh-CN' : 'en');
        await check(page, path.replaceAll(/\W+/g, '-').replace(/^-/, '').replace(reference, 'found') || 'overview');
      }
      await page.goto(addressOf(''));
      const [heading, draining, silent] =
        locale === 'zh-CN'
          ? ['接收与工作进程', '正在关闭', '无响应']
          : ['Receivers and workers', 'draining', 'not responding'];
      const rows = page.getByRole('region', { name: heading }).getByRole('row');
      expect(await rows.filter({ hasText: 'web-2-aaaaaa' }).textContent()).toContain(draining);
      expect(await rows.filter({ hasText: 'cccccc' }).textContent()).toContain(silent);
      expect(await rows.filter({ hasText: ` ${parley.pid}` }).textContent()).toContain('receiver');
      await page.goto(addressOf('/people'));
      await page.getByRole('textbox').fill('20190012');
      await page.keyboard.press('Enter');
      await page.getByText('emma.clarke').waitFor();
      await page.locator('summary').click();
      await check(page, 'people-found');
      await page.goto(addressOf('/pauses'));
      await page.locator('#kind').selectOption('group:');
      await page.locator('#message').fill('Back at 14:00.');
      await page.keyboard.press('Enter');
      await page.getByRole('alert').waitFor();
      await check(page, 'pauses-refused');
      await page.goto(addressOf('/budgets'));
      await page.locator('#of').selectOption('person');
      await page.locator('#name').fill('20190012');
      await page.keyboard.press('Enter');
      await page.locator('#amount').fill('1.5');
      await page.keyboard.press('Enter');
      await page.getByRole('alert').waitFor();
      await check(page, 'budgets-refused');
      await page.goto(addressOf('/nowhere'));
      await check(page, 'not-found');
      const outside = await stranger.newPage();
      await outside.goto(addressOf('/usage'));
      await check(outside, 'stranger');
      expect(found).toEqual([]);
      await context.close();
      await stranger.close();
    }, 180_000);

  test('a person switches the language, replays a dead letter once, pauses, tops up and revokes a link [admin-acts]', async () => {
    const context = await browser.newContext({ locale: 'en-GB', storageState: signedIn });
    const page = await context.newPage();
    await page.goto(addressOf('/dead-letters'));
    await page.getByRole('link', { name: '中文' }).click();
    await page.getByRole('heading', { name: '死信', level: 1 }).waitFor();
    await page.getByRole('navigation').getByRole('link', { name: '概览' }).click();
    await page.getByRole('heading', { name: '概览', level: 1 }).waitFor();
    await page.getByRole('link', { name: 'English' }).click();
    await page.getByRole('navigation').getByRole('link', { name: 'Dead letters' }).click();
    await page.getByRole('button', { name: `Replay ${letter.slice(0, 8)}` }).click();
    await page.getByRole('status').filter({ hasText: 'The question was put back' }).waitFor();
    expect(await page.getByRole('button', { name: /^Replay/ }).count()).toBe(0);
    await page.getByRole('navigation').getByRole('link', { name: 'Pauses' }).click();
    await page.getByLabel('Pause', { exact: true }).selectOption('A model');
    await page.getByLabel('Message to people').fill('Back at 14:00.');
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByRole('alert').filter({ hasText: 'the name of the model' }).waitFor();
    expect(await page.getByLabel('Message to people').inputValue()).toBe('Back at 14:00.');
    await page.getByLabel('Group id or model').fill('svc-max');
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByRole('status').filter({ hasText: 'The pause has begun' }).waitFor();
    await page.getByRole('button', { name: 'Resume Model svc-max' }).click();
    await page.getByRole('status').filter({ hasText: 'The pause has ended' }).waitFor();
    expect(await deployment.redis.hkeys('pauses')).toEqual(['group:wrtown']);
    await page.getByRole('navigation').getByRole('link', { name: 'Budgets' }).click();
    await page.getByLabel('Budget of').selectOption('Model');
    await page.getByLabel(/^Account, code/).fill('svc-plus');
    await page.getByRole('button', { name: 'Show' }).click();
    await page.getByLabel('Amount').fill('500');
    await page.getByRole('button', { name: 'Add' }).click();
    await page.getByRole('status').filter({ hasText: 'The amount was added' }).waitFor();
    expect(await page.getByRole('row', { name: /^Tokens per day/ }).textContent()).toMatch(/1,000\s+500/);
    await page.getByRole('navigation').getByRole('link', { name: 'People' }).click();
    await page.getByLabel(/Account/).fill('20190012');
    await page.getByRole('button', { name: 'Search' }).click();
    await page.getByText('Revoke…').click();
    await page.getByRole('button', { name: 'Revoke the link' }).click();
    await page.getByRole('status').filter({ hasText: 'The link was revoked' }).waitFor();
    expect(await deployment.redis.keys('{id}:link:*')).toEqual([]);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in', level: 1 }).waitFor();
    await context.close();
  }, 120_000);
});
