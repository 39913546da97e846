import { createRequire } from 'node:module';
import { mkdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Browser } from 'playwright-core';
import type { SafeHtml } from '../../../src/shared/text/html.ts';
import type { Language } from '../../../src/shared/text/texts.ts';
import {
  cancelledPage,
  declinedPage,
  donePage,
  returnedPage,
  signedOutPage,
} from '../../../src/bot/identity/pages/closing-pages.ts';
import { codePage } from '../../../src/bot/identity/pages/code-page.ts';
import { confirmPage } from '../../../src/bot/identity/pages/confirm-page.ts';
import { errorPage } from '../../../src/bot/identity/pages/error-page.ts';
import { ERROR_TEXTS, type ErrorPage } from '../../../src/bot/identity/pages/error-texts.ts';
import { landingPage, openInAppPage } from '../../../src/bot/identity/pages/landing-page.ts';
import type { BackToChat } from '../../../src/bot/platforms/platform.ts';
import { SIGN_IN_STYLE } from '../../../src/bot/identity/browser/assets.ts';
import { findChromium, launchChromium } from '../../support/chromium.ts';
import { asAccountId } from '../../../src/bot/domain/ids.ts';

/** Folder for screenshots of every page; unset for none. */
const PICTURES = process.env['PICTURES_DIR'];
const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
const SIZES = {
  wide: { width: 1200, height: 850 },
  narrow: { width: 390, height: 844 },
  small: { width: 320, height: 640 },
};

/** A person with an encrypted WeCom id and no name, and a person with a long name on another platform. */
const NAMELESS = { platform: 'wecom' as const, chatUserId: 'woAJ2GCAAAXtWyujaWJHDDGi0mACas1w' };
const NAMED = {
  platform: 'slack' as const,
  chatUserId: 'ou_7d8a6e6df7621556ce0d21922b676706ccs',
  displayName: '欧阳 Maximiliane-Annabelle von Hohenberg',
};
const PROFILE = {
  id: asAccountId('20080117'),
  name: '张伟',
  identityCode: 'JG',
  department: '',
  departmentName: '',
  attributes: {},
};
const IN_WECOM: BackToChat = { kind: 'close-window', platform: 'wecom' };
const IN_SLACK: BackToChat = { kind: 'link', platform: 'slack', href: 'slack://user?team=T1&id=U1' };
const common = { providerName: 'Example University', csrf: 'f'.repeat(64) };

function pagesIn(language: Language): Record<string, SafeHtml> {
  const code = { ...common, language, accountName: PROFILE.name, code: '7K3M9QXP', isAgain: false, isAwaited: true };
  const errors = Object.keys(ERROR_TEXTS).map((name) => {
    const error = name as ErrorPage;
    const again = error.endsWith('-failed') ? { again: { ticketHash: 'a'.repeat(64), csrf: common.csrf } } : {};
    const links = { helpUrl: 'mailto:help@example.org' };
    return [name, errorPage({ language, error, back: IN_WECOM, reference: 'Ab3-_x9Z', ...again, ...links })] as const;
  });
  return {
    landing: landingPage({
      ...common,
      language,
      person: NAMELESS,
      action: '/link/x/start',
      asksApp: false,
      endsWithCode: false,
      isAwaited: true,
    }),
    'open-in-app': openInAppPage({ ...common, language, person: NAMED, back: undefined }),
    'landing-code': landingPage({
      ...common,
      language,
      person: NAMED,
      action: '/link/x/start',
      asksApp: true,
      endsWithCode: true,
      isAwaited: false,
    }),
    confirm: confirmPage({
      ...common,
      language,
      person: NAMED,
      profile: PROFILE,
      endsWithCode: false,
      isAwaited: true,
    }),
    'confirm-code': confirmPage({
      ...common,
      language,
      person: NAMELESS,
      profile: PROFILE,
      endsWithCode: true,
      isAwaited: false,
    }),
    code: codePage({ ...code, person: NAMELESS, minutesLeft: 5, replaces: 1 }),
    'code-last': codePage({ ...code, person: NAMED, minutesLeft: 1, isAgain: true }),
    done: donePage({ language, back: IN_WECOM, name: PROFILE.name, waitsFor: 'private' }),
    'done-group': donePage({ language, back: IN_SLACK, name: PROFILE.name, waitsFor: 'too-old-in-group' }),
    cancelled: cancelledPage({ language, back: IN_WECOM }),
    declined: declinedPage({ language, back: IN_WECOM, again: { ticketHash: 'a'.repeat(64), csrf: common.csrf } }),
    'signed-out': signedOutPage({ language, back: undefined }),
    returned: returnedPage({ language, back: undefined, providerName: { en: 'Example University', zh: '清河大学' } }),
    ...Object.fromEntries(errors),
  };
}

const describeInChromium = findChromium() === undefined ? describe.skip : describe;

describeInChromium('every sign-in page in Chromium', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser.close());

  const looks = (['en', 'zh'] as const).flatMap((language) =>
    (['light', 'dark'] as const).flatMap((colorScheme) =>
      (['wide', 'narrow', 'small'] as const).map((size) => ({ language, colorScheme, size })),
    ),
  );
  // Three combinations that differ in everything; all twelve if screenshots are taken.
  for (const { language, colorScheme, size } of PICTURES === undefined
    ? [looks[0], looks[5], looks[10]].filter((look) => !!look)
    : looks)
    test(`no accessibility violations and no horizontal scrolling: ${language}, ${colorScheme}, ${size}`, async () => {
      const viewport = SIZES[size];
      const page = await (await browser.newContext({ colorScheme, viewport })).newPage();
      const found: string[] = [];
      for (const [name, { text }] of Object.entries(pagesIn(language))) {
        await page.setContent(text.replace(/<link rel="stylesheet"[^>]*>/, `<style>${SIGN_IN_STYLE}</style>`));
        if (PICTURES !== undefined) {
          mkdirSync(PICTURES, { recursive: true });
          await page.screenshot({
            path: `${PICTURES}/${name}-${language}-${colorScheme}-${size}.png`,
            fullPage: true,
          });
        }
        if (await page.evaluate('document.documentElement.scrollWidth > window.innerWidth'))
          found.push(`${name} scrolls`);
        await page.addScriptTag({ path: AXE });
        const violations = await page.evaluate(
          `axe.run().then(({ violations }) => violations.map(({ id, impact }) => id + ' ' + impact))`,
        );
        found.push(...(violations as string[]).map((violation) => `${name} ${violation}`));
      }
      expect(found).toEqual([]);
      await page.context().close();
    }, 60_000);
});

test('every error page names a next step, with a button where one is possible [page-headers]', () => {
  for (const language of ['en', 'zh'] as const)
    for (const [name, { text }] of Object.entries(pagesIn(language))) {
      if (!name.startsWith('E')) continue;
      expect([name, text.match(/class="primary"/g)?.length]).toEqual([name, 1]);
      expect([name, text.match(/data-back="wecom"/g)?.length]).toEqual([name, 1]);
      expect([name, text.match(/class="lead"/g)?.length]).toEqual([name, 1]);
    }
});

const IN_SLACK_PERSON = { platform: 'slack' as const, chatUserId: 'U0123456789', displayName: 'Emma Clarke' };

test('pages write the bot’s words as people type them in their messaging app', () => {
  const wordsOf = (back: BackToChat, person: typeof IN_SLACK_PERSON | typeof NAMELESS) => {
    const view = { language: 'en', back } as const;
    return [
      donePage({ ...view, name: PROFILE.name, waitsFor: 'private' }),
      cancelledPage(view),
      signedOutPage(view),
      returnedPage({ ...view, providerName: { en: 'Example University', zh: '清河大学' } }),
      confirmPage({ ...common, ...view, person, profile: PROFILE, endsWithCode: true, isAwaited: true }),
      ...Object.keys(ERROR_TEXTS).map((error) => errorPage({ ...view, error: error as ErrorPage, reference: 'x' })),
    ].map(({ text }) => text.match(/(?<=[\s“])\/?(signin|unlink)\b/g)?.join(' ') ?? '');
  };
  const inWecom = wordsOf(IN_WECOM, NAMELESS);
  expect(inWecom.slice(0, 5)).toEqual(['/unlink', '/signin', '/signin', '/signin', '/unlink']);
  expect(wordsOf(IN_SLACK, IN_SLACK_PERSON)).toEqual(inWecom.map((words) => words.replaceAll('/', '')));
});

test('Chinese pages put spaces around names in Latin letters, and none around Chinese names', () => {
  const zh = { ...common, language: 'zh' } as const;
  const leadOf = ({ text }: SafeHtml) => /class="lead">([^<]*)</.exec(text)?.[1]?.trim();
  const landing = { ...zh, action: '/x', asksApp: false, endsWithCode: false, isAwaited: true };
  expect(leadOf(landingPage({ ...landing, person: IN_SLACK_PERSON }))).toMatch(/^你在 Slack 中给机器人/);
  expect(leadOf(landingPage({ ...landing, person: NAMELESS }))).toMatch(/^你在企业微信中给机器人/);
  const confirm = { ...zh, person: IN_SLACK_PERSON, endsWithCode: false, isAwaited: true };
  const emma = { ...PROFILE, name: 'Emma Clarke' };
  expect(leadOf(confirmPage({ ...confirm, profile: emma }))).toBe(
    '此聊天账号将以 Emma Clarke 的身份使用 Slack 中的机器人。',
  );
  const code = { ...zh, accountName: '张伟', code: '7K3M9QXP', isAgain: false, isAwaited: true, minutesLeft: 5 };
  expect(leadOf(codePage({ ...code, person: { ...IN_SLACK_PERSON, displayName: '张伟' } }))).toMatch(
    /^还差一步。请用张伟（[^）]*）的身份在 Slack 中/,
  );
});
