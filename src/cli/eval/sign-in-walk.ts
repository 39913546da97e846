import type { MessengerDriver } from '../../simulator/driver.ts';

/** More pages than any sign-in has. */
const MAX_PAGES = 8;

/**
 * Follows a sign-in link in the app's built-in browser and confirms each page.
 * @throws Error if the sign-in does not complete
 */
export async function walkThroughSignIn(driver: MessengerDriver, userId: string, invitation: string): Promise<void> {
  const link = (invitation.match(/https?:\/\/[^\s()<>]+/g) ?? []).flatMap(
    (url) => /^.*\/link\/[\w-]+/.exec(url) ?? [],
  )[0];
  if (link === undefined) throw new Error(`No sign-in link arrived for ${userId}`);
  let shown = await driver.browse(userId, { url: new URL(link), method: 'GET', destination: 'document' });
  for (let page = 0; page < MAX_PAGES; page += 1) {
    if (shown.kind !== 'page' || shown.status >= 400) break;
    const text = shown.body.toString('utf8');
    if (text.includes('data-outcome="done"')) return;
    const next = await goOn(driver, userId, { shown, text });
    if (!next) break;
    shown = next;
  }
  throw new Error(`${userId} could not be signed in`);
}

type Shown = Awaited<ReturnType<MessengerDriver['browse']>>;

/**
 * Follows a page that goes on by itself, or presses the first button.
 * @param typed what the person types into the form, by field
 * @returns the next page; undefined if this is the last one
 */
export async function goOn(
  driver: Pick<MessengerDriver, 'browse'>,
  userId: string,
  { shown, text, typed }: { shown: Pick<Shown, 'url'>; text: string; typed?: URLSearchParams },
): Promise<Shown | undefined> {
  const from = { origin: shown.url.origin, referrerPolicy: 'same-origin' };
  const goesTo = /http-equiv="refresh" content="0; url=([^"]*)"/.exec(text)?.[1];
  if (goesTo !== undefined)
    return driver.browse(userId, { url: new URL(plain(goesTo)), method: 'GET', from, destination: 'document' });
  const formAt = text.search(/<form\b[^<>]{0,500}method="?post/i);
  if (formAt < 0) return undefined;
  const form = text.slice(formAt, text.indexOf('</form>', formAt));
  return driver.browse(userId, {
    ...{ url: new URL(plain(/action="([^"]*)"/.exec(form)?.[1] ?? ''), shown.url), method: 'POST', from },
    body: Buffer.from(fieldsOf(form, typed).toString()),
    contentType: 'application/x-www-form-urlencoded',
    destination: 'document',
  });
}

function fieldsOf(form: string, typed?: URLSearchParams): URLSearchParams {
  const fields = new URLSearchParams();
  const attribute = (tag: string, name: string) => plain(new RegExp(`\\b${name}="([^"]*)"`).exec(tag)?.[1] ?? '');
  for (const [tag] of form.matchAll(/<input\b[^<>]*>/g))
    fields.append(attribute(tag, 'name'), typed?.get(attribute(tag, 'name')) ?? attribute(tag, 'value'));
  const button = (form.match(/<button\b[^<>]*>/g) ?? []).find((tag) => tag.includes('name='));
  if (button !== undefined) fields.append(attribute(button, 'name'), attribute(button, 'value'));
  return fields;
}

function plain(text: string): string {
  return text.replaceAll('&quot;', '"').replaceAll('&#39;', "'").replaceAll('&amp;', '&');
}
