import type { KeyObject } from 'node:crypto';
import { hmacHex, sameSecret } from '../../../shared/crypto/ids.ts';
import { cookieIn } from '../../../shared/http/cookie-in.ts';
import type { CallbackParameter } from '../providers/provider.ts';

/**
 * Binds a browser to its sign-in. With this prefix, browsers refuse the cookie without `Secure` or with another path or
 * domain.
 */
const COOKIE_NAME = '__Host-bs';
const COOKIE_LIFE_SEC = 15 * 60;
const COOKIE_VALUE = /^[A-Za-z0-9_-]{43}$/;

/** The value of the browser cookie in a `Cookie` header; undefined if it is absent, malformed or present twice. */
export function readBrowserCookie(header: string | undefined): string | undefined {
  return cookieIn(header, COOKIE_NAME, COOKIE_VALUE);
}

/** The `Set-Cookie` header value of the browser cookie (SECURITY.md one-browser). */
export function writeBrowserCookie(value: string): string {
  return `${COOKIE_NAME}=${value}; Path=/; Max-Age=${COOKIE_LIFE_SEC}; Secure; HttpOnly; SameSite=Lax`;
}

/** The form token of one browser for one invitation: an HMAC over both (SECURITY.md one-browser). */
export function csrfToken(key: KeyObject, cookie: string, ticketHash: string): string {
  return hmacHex(key, `csrf|${cookie.length}:${cookie}|${ticketHash}`);
}

export interface FormPost {
  cookie: string | undefined;
  /** The form's token, unvalidated. */
  token: unknown;
  origin: string | undefined;
  secFetchSite: string | undefined;
}

export interface FormGuard {
  key: KeyObject;
  ticketHash: string;
  publicOrigin: string;
}

/**
 * Whether a POST comes from a form issued to this browser (SECURITY.md same-origin-forms). Undecidable cases are refused.
 */
export function isOwnForm(post: FormPost, { key, ticketHash, publicOrigin }: FormGuard): boolean {
  if (post.origin !== undefined && post.origin !== publicOrigin) return false;
  if (post.secFetchSite !== undefined && post.secFetchSite !== 'same-origin') return false;
  if (post.cookie === undefined || typeof post.token !== 'string') return false;
  return sameSecret(post.token, csrfToken(key, post.cookie, ticketHash));
}

/** The parameters of a sign-in callback. */
export interface CallbackQuery {
  /** The code or service ticket. */
  code?: string;
  state?: string;
  /** The service reported an error. Its message is never shown or logged. */
  isError: boolean;
  /** The user declined (RFC 6749 section 4.1.2.1). */
  isDenied: boolean;
}

const CODE: CallbackParameter = { name: 'code', maxChars: 3_072 };
/** Longer query strings of callbacks are refused unread. */
export const MAX_QUERY_CHARS = 4_096;
const MAX_STATE_CHARS = 256;

/**
 * Parses a callback's query string. Returns undefined if a parameter is repeated, too long or empty, or if there is neither
 * a code nor an error.
 */
export function readCallback(
  querystring: string,
  { name: codeName, maxChars }: CallbackParameter = CODE,
): CallbackQuery | undefined {
  if (querystring.length > MAX_QUERY_CHARS) return undefined;
  const query = new URLSearchParams(querystring);
  const names = [...query.keys()];
  if (new Set(names).size !== names.length) return undefined;
  const code = query.get(codeName) ?? undefined;
  const state = query.get('state') ?? undefined;
  if (code !== undefined && (code === '' || code.length > maxChars)) return undefined;
  if (state !== undefined && (state === '' || state.length > MAX_STATE_CHARS)) return undefined;
  const isError = query.has('error');
  if (code === undefined && !isError) return undefined;
  const isDenied = query.get('error') === 'access_denied';
  return { isError, isDenied, code, state };
}
