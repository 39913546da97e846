import type { Context } from 'koa';
import { fieldsOf } from '../../../shared/parse-json.ts';
import { languageOfHeader } from '../../../shared/text/texts.ts';
import type { BrowserRequest, PageOutcome } from './step.ts';
import { pageHeaders } from '../pages/headers.ts';
import { readBrowserCookie, writeBrowserCookie } from './request-guards.ts';

/** Extracts the parts of a request that the steps need. */
export function browserRequest(context: Context): BrowserRequest {
  const cookie = readBrowserCookie(context.headers.cookie);
  const { origin } = context.headers;
  const secFetchSite = context.headers['sec-fetch-site'];
  return {
    language: languageOfHeader(context.headers['accept-language']),
    userAgent: context.get('User-Agent'),
    querystring: context.querystring,
    form: fieldsOf(context.request.body),
    cookie,
    origin,
    secFetchSite: typeof secFetchSite === 'string' ? secFetchSite : undefined,
  };
}

/** Sends a step's outcome as the response. */
export function send(context: Context, outcome: PageOutcome): void {
  context.set(pageHeaders(outcome.kind === 'page' ? outcome : {}));
  if (outcome.cookie !== undefined) context.append('Set-Cookie', writeBrowserCookie(outcome.cookie));
  if (outcome.kind === 'page') {
    context.type = 'text/html';
    context.body = outcome.page.text;
    return;
  }
  if (outcome.isCallback) context.set('Referrer-Policy', 'no-referrer');
  context.status = 303;
  context.set('Location', outcome.location);
  context.body = '';
  context.status = 303;
}
