import type { Page, PageBrowser } from './page-browser.ts';

/** The link was used or has expired, and a new one is needed. */
export class LinkGone extends Error {}

const MAX_PAGES = 6;

/**
 * Completes the sign-in pages as a person who consents to everything. A browser that returns with the same link continues
 * where the pages allow it. @returns the code for the chat @throws LinkGone, or Error if a page could not be loaded
 */
export async function walkToCode(browser: PageBrowser, link: string, login: Record<string, string>): Promise<string> {
  let page = await browser.open(link);
  for (let pages = 0; pages < MAX_PAGES; pages += 1) {
    if (page.status >= 500) throw new Error(`A page returned ${page.status}`);
    const code = /class="symbols">([0-9A-Z]{4}-[0-9A-Z]{4})</.exec(page.text)?.[1];
    if (code !== undefined) return code;
    if (page.status >= 400) throw new LinkGone(`A page returned ${page.status}`);
    page = await pressFirstButton(browser, page, login);
  }
  throw new LinkGone('The sign-in did not end');
}

async function pressFirstButton(browser: PageBrowser, page: Page, login: Record<string, string>): Promise<Page> {
  const form = /<form\b[^>]*method="?post"?[^>]*>[\s\S]*?<\/form>/i.exec(page.text)?.[0];
  if (form === undefined) throw new LinkGone('A page has no button');
  const fields: Record<string, string> = {};
  for (const [tag] of form.matchAll(/<(?:input|button)\b[^>]*\bname=[^>]*>/g)) {
    const name = attribute(tag, 'name');
    // If there are two buttons, the first is pressed.
    if (!(name in fields)) fields[name] = login[name] ?? attribute(tag, 'value');
  }
  const url = new URL(attribute(form, 'action'), page.url);
  return browser.open(url.href, { fields, from: page.url });
}

function attribute(tag: string, name: string): string {
  const value = new RegExp(`\\b${name}="([^"]*)"`).exec(tag)?.[1] ?? '';
  return value.replaceAll('&quot;', '"').replaceAll('&#39;', "'").replaceAll('&amp;', '&');
}
