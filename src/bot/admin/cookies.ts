import { cookieIn } from '../../shared/http/cookie-in.ts';
import type { Language } from '../../shared/text/texts.ts';
import { SESSION_LIFE_MS } from './sessions.ts';
import { DAY_MS, SECOND_MS } from '../../shared/clock.ts';

/** Maximum sign-ins in progress per browser, one in each tab. */
const MAX_DEPARTURES = 3;

/** The cookies of the page. `departures` has the path `/`, because the browser returns from the service to another path. */
const COOKIES = {
  session: { name: '__Secure-admin', form: /^[\w-]{43}$/, rest: `Path=/admin; Max-Age=${SESSION_LIFE_MS / SECOND_MS}` },
  departures: {
    name: '__Host-admin-from',
    form: /^[\w-]{43}(?:![\w.~+/=-]{1,1200}){0,3}$/,
    rest: `Path=/; Max-Age=${DAY_MS / SECOND_MS}`,
  },
  language: { name: '__Secure-admin-lang', form: /^(?:en|zh)$/, rest: 'Path=/admin; Max-Age=31536000' },
} as const;

export type AdminCookie = keyof typeof COOKIES;

/** The value of a cookie; undefined if it is absent, malformed or present twice. */
export function readCookie(header: string | undefined, cookie: AdminCookie): string | undefined {
  const { name, form } = COOKIES[cookie];
  return cookieIn(header, name, form);
}

/**
 * A `Set-Cookie` header. Only `departures` is sent when the browser comes from another site; an empty value deletes the cookie.
 */
export function writeCookie(cookie: AdminCookie, value: string): string {
  const { name, rest } = COOKIES[cookie];
  const life = value === '' ? rest.replace(/Max-Age=\d+/, 'Max-Age=0') : rest;
  return `${name}=${value}; ${life}; Secure; HttpOnly; SameSite=${cookie === 'departures' ? 'Lax' : 'Strict'}`;
}

/** What a browser without a session holds. */
export interface Departures {
  /** Binds the form of the sign-in page to the browser. */
  browser: string;
  /** The sign-ins in progress, encrypted, newest first. */
  begun: readonly string[];
}

export function readDepartures(header: string | undefined): Departures | undefined {
  const [browser, ...begun] = readCookie(header, 'departures')?.split('!') ?? [];
  return browser === undefined ? undefined : { browser, begun };
}

export function writeDepartures({ browser, begun }: Departures): string {
  return writeCookie('departures', [browser, ...begun.slice(0, MAX_DEPARTURES)].join('!'));
}
