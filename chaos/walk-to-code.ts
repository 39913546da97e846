import type { Page, PageBrowser } from './page-browser.ts';

/** The link is used up or over, and another has to be asked for. */
export class LinkGone extends Error {}

const MOST_PAGES = 6;

/**
 * Goes through the sign-in pages as a person who agrees to everything. A browser that comes back with the same link goes on
 * where the pages let it. @returns the code for the chat @throws LinkGone, or Error when a page could not be had
 */
export async function walkToCode(browser: PageBrowser, link: string, login: Record<string, string>): Promise<string> {
  let page = await browser.open(link);
  for (let pages = 0; pages < MOST_PAGES; pages += 1) {
    if (page.status >= 500) throw new Error(`A page answered ${page.status}`);
    const code = /class="symbols">([0-9A-Z]{4}-[0-9A-Z]{4})</.exec(page.text)?.[1];
    if (code !== undefined) return code;
    if (page.status >= 400) throw new LinkGone(`A page answered ${page.status}`);
    page = await pressFirstButton(browser, page, login);
  }
  throw new LinkGone('The pages did not come to an end');
}

async function pressFirstButton(browser: PageBrowser, page: Page, login: Record<string, string>): Promise<Page> {
  const form = /<form\b[^>]*method="?post"?[^>]*>[\s\S]*?<\/form>/i.exec(page.text)?.[0];
  if (form === undefined) throw new LinkGone('A page has no button');
  const fields: Record<string, string> = {};
  for (const [tag] of form.matchAll(/<(?:input|button)\b[^>]*\bname=[^>]*>/g)) {
    const name = attribute(tag, 'name');
    // Of two buttons the first is pressed.
    if (!(name in fields)) fields[name] = login[name] ?? attribute(tag, 'value');
  }
  const url = new URL(attribute(form, 'action'), page.url);
  return browser.open(url.href, { fields, from: page.url });
}

function attribute(tag: string, name: string): string {
  const value = new RegExp(`\\b${name}="([^"]*)"`).exec(tag)?.[1] ?? '';
  return value.replaceAll('&quot;', '"').replaceAll('&#39;', "'").replaceAll('&amp;', '&');
}
