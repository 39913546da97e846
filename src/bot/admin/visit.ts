import type { Context } from 'koa';
import { sha256Hex } from '../../shared/crypto/ids.ts';
import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import { fieldsOf } from '../../shared/parse-json.ts';
import type { SafeHtml } from '../../shared/text/html.ts';
import { languageOfHeader, type Language } from '../../shared/text/texts.ts';
import type { AccountId } from '../domain/ids.ts';
import { csrfToken, isOwnForm } from '../identity/browser/request-guards.ts';
import { readCookie } from './cookies.ts';
import type { AdminPath } from './pages/layout.ts';

const CSRF_PURPOSE = 'admin-csrf';

/** A request of an administrator. */
export interface Visit {
  language: Language;
  account: AccountId;
  /** The token for the forms of the page. */
  csrf: string;
  query: URLSearchParams;
  form: Readonly<Record<string, unknown>>;
}

/** What a visit is answered with. */
export type Reply =
  | { kind: 'page'; path: AdminPath; body: SafeHtml }
  /** Follows every act, so that a reload does not repeat it. */
  | { kind: 'redirect'; to: string }
  | { kind: 'csv'; name: string; text: string }
  | { kind: 'missing' };

export type Handle = (visit: Visit) => Promise<Reply>;

/** The language of `?lang=`, else the chosen one, else the browser's. */
export function languageOf(context: Context): Language {
  for (const asked of [context.query['lang'], readCookie(context.headers.cookie, 'language')])
    if (asked === 'en' || asked === 'zh') return asked;
  return languageOfHeader(context.headers['accept-language']);
}

export function formOf(context: Context): Readonly<Record<string, unknown>> {
  return fieldsOf(context.request.body);
}

/** A field of a form as text; empty if it is absent or repeated. */
export function fieldOf(form: Visit['form'], name: string): string {
  const value = form[name];
  return typeof value === 'string' ? value.trim() : '';
}

/** Issues the tokens of forms and checks them (SECURITY.md admin-acts). */
export interface AdminForms {
  token(cookie: string): string;
  isOwn(context: Context, cookie: string | undefined): boolean;
}

/** @param origins the accepted origins; unlike on the sign-in pages, a browser must name one */
export function createAdminForms(keyRing: KeyRing, origins: readonly string[]): AdminForms {
  const newestKey = keyRing.deriveKey(CSRF_PURPOSE);
  // Forms issued before a key rotation remain valid.
  const csrfKeys = keyRing.deriveKeys(CSRF_PURPOSE);
  const purpose = sha256Hex(CSRF_PURPOSE);
  return {
    token: (cookie) => csrfToken(newestKey, cookie, purpose),
    isOwn(context, cookie) {
      const { origin } = context.headers;
      if (origin === undefined || !origins.includes(origin)) return false;
      const site = context.headers['sec-fetch-site'];
      const secFetchSite = typeof site === 'string' ? site : undefined;
      const post = { cookie, token: formOf(context)['csrf'], origin, secFetchSite };
      return csrfKeys.some((key) => isOwnForm(post, { key, ticketHash: purpose, publicOrigin: origin }));
    },
  };
}
