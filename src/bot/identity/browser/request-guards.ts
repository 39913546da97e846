import { hmacHex, sameSecret } from '../../../shared/crypto/ids.ts';
import type { ReturnParameter } from '../providers/provider.ts';

/** Binds a browser to its sign-in. The prefix makes browsers refuse it without `Secure`, or for another path or domain. */
const COOKIE_NAME = '__Host-bs';
const COOKIE_LIFE_SEC = 15 * 60;
const COOKIE_VALUE = /^[A-Za-z0-9_-]{43}$/;

/** The value of the browser cookie in a `Cookie` header; undefined when it is absent, malformed or given twice. */
export function readBrowserCookie(header: string | undefined): string | undefined {
  const pairs = (header ?? '').split(';').map((pair) => pair.trim());
  const values = pairs
    .filter((pair) => pair.startsWith(`${COOKIE_NAME}=`))
    .map((pair) => pair.slice(COOKIE_NAME.length + 1));
  const [value] = values;
  return values.length === 1 && value !== undefined && COOKIE_VALUE.test(value) ? value : undefined;
}

/** The `Set-Cookie` line of the browser cookie (SECURITY.md one-browser). */
export function writeBrowserCookie(value: string): string {
  return `${COOKIE_NAME}=${value}; Path=/; Max-Age=${COOKIE_LIFE_SEC}; Secure; HttpOnly; SameSite=Lax`;
}

/** The form token of one browser for one ticket: an HMAC over both (SECURITY.md one-browser). */
export function csrfToken(key: Buffer, cookie: string, ticketHash: string): string {
  return hmacHex(key, `csrf|${cookie.length}:${cookie}|${ticketHash}`);
}

export interface FormPost {
  cookie: string | undefined;
  /** The form's token, as it came. */
  token: unknown;
  origin: string | undefined;
  secFetchSite: string | undefined;
}

export interface FormGuard {
  key: Buffer;
  ticketHash: string;
  publicOrigin: string;
}

/** Whether a POST comes from a form that we gave to this browser (SECURITY.md same-origin-forms); what cannot be decided is refused. */
export function isOwnForm(post: FormPost, { key, ticketHash, publicOrigin }: FormGuard): boolean {
  if (post.origin !== undefined && post.origin !== publicOrigin) return false;
  if (post.secFetchSite !== undefined && post.secFetchSite !== 'same-origin') return false;
  if (post.cookie === undefined || typeof post.token !== 'string') return false;
  return sameSecret(post.token, csrfToken(key, post.cookie, ticketHash));
}

/** What a browser brought back from a sign-in. */
export interface CallbackQuery {
  /** The code or ticket. */
  code?: string;
  state?: string;
  /** The service said that it failed; its words are never shown or logged. */
  isError: boolean;
  /** The person said no there (RFC 6749 section 4.1.2.1). */
  isDenied: boolean;
}

const CODE: ReturnParameter = { name: 'code', mostChars: 3_072 };
/** Of a callback's query string; a longer one is refused unread. */
export const MAX_QUERY_CHARS = 4_096;
const MAX_STATE_CHARS = 256;

/** Reads a callback's query string; undefined when a parameter is repeated, over-long or empty, or neither result came. */
export function readCallback(
  querystring: string,
  { name: codeName, mostChars }: ReturnParameter = CODE,
): CallbackQuery | undefined {
  if (querystring.length > MAX_QUERY_CHARS) return undefined;
  const query = new URLSearchParams(querystring);
  const names = [...query.keys()];
  if (new Set(names).size !== names.length) return undefined;
  const code = query.get(codeName) ?? undefined;
  const state = query.get('state') ?? undefined;
  if (code !== undefined && (code === '' || code.length > mostChars)) return undefined;
  if (state !== undefined && (state === '' || state.length > MAX_STATE_CHARS)) return undefined;
  const isError = query.has('error');
  if (code === undefined && !isError) return undefined;
  const isDenied = query.get('error') === 'access_denied';
  return { isError, isDenied, code, state };
}
