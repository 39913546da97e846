import { cookieIn } from '../../shared/http/cookie-in.ts';
import type { Language } from '../../shared/text/texts.ts';
import { SESSION_LIFE_MS } from './sessions.ts';
import { SECOND_MS } from '../../shared/clock.ts';

/** The cookies of the page. `departure` has the path `/`, because the browser returns from the service to another path. */
const COOKIES = {
  session: { name: '__Secure-admin', form: /^[\w-]{43}$/, rest: `Path=/admin; Max-Age=${SESSION_LIFE_MS / SECOND_MS}` },
  departure: { name: '__Host-admin-from', form: /^[\w.~+/=-]{43,2048}$/, rest: 'Path=/; Max-Age=300' },
  language: { name: '__Secure-admin-lang', form: /^(?:en|zh)$/, rest: 'Path=/admin; Max-Age=31536000' },
} as const;

export type AdminCookie = keyof typeof COOKIES;

/** The value of a cookie; undefined if it is absent, malformed or present twice. */
export function readCookie(header: string | undefined, cookie: AdminCookie): string | undefined {
  const { name, form } = COOKIES[cookie];
  return cookieIn(header, name, form);
}

/**
 * A `Set-Cookie` header. Only `departure` is sent when the browser comes from another site; an empty value deletes the cookie.
 */
export function writeCookie(cookie: AdminCookie, value: string): string {
  const { name, rest } = COOKIES[cookie];
  const life = value === '' ? rest.replace(/Max-Age=\d+/, 'Max-Age=0') : rest;
  return `${name}=${value}; ${life}; Secure; HttpOnly; SameSite=${cookie === 'departure' ? 'Lax' : 'Strict'}`;
}

/** The chosen language. */
export function languageIn(header: string | undefined): Language | undefined {
  return readCookie(header, 'language') as Language | undefined;
}
