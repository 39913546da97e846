import type { Answer } from '../identity/test-browser.ts';

/** What a page shows, without the token of its form, which differs from browser to browser. */
export function visibleParts({ status, text, headers }: Answer) {
  const { date, 'set-cookie': cookies, connection, 'keep-alive': alive, ...rest } = headers;
  const withoutValue = [cookies ?? []].flat().map((cookie) => cookie.replace(/=[\w-]{43};/, '=…;'));
  return { status, rest, withoutValue, text: text.replace(/name="csrf" value="[0-9a-f]+"/, 'name="csrf"') };
}
