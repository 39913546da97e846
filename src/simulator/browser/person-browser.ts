import { CookieJar } from 'tough-cookie';
import { MIB_BYTES, SECOND_MS } from '../../shared/clock.ts';
import { definedOnly } from '../../shared/defined-only.ts';
import { callHttp, type HttpResponse } from '../../shared/http/call-http.ts';
import { APP_SESSION_HEADER } from './app-sessions.ts';
import { originHeader, siteOf, worstSite, type FetchSite } from './fetch-metadata.ts';

const MAX_REDIRECTS = 20;
const LIMITS = { timeoutMs: 20 * SECOND_MS, maxBytes: 16 * MIB_BYTES };

/** One navigation or fetch for a person. */
export interface BrowserRequest {
  url: URL;
  method: 'GET' | 'POST';
  body?: Buffer;
  contentType?: string;
  acceptLanguage?: string;
  /** The page that the request starts from; none if the person opened a link in a chat. */
  from?: { origin: string; referrerPolicy: string };
  /** `document` for navigations; otherwise the kind of resource (`style`, `image`). */
  destination: string;
}

/** Where a navigation ended. `outside`: at a page that this browser does not open. */
export type BrowserResult =
  | ({ kind: 'page'; url: URL } & HttpResponse)
  | { kind: 'outside'; url: URL }
  | { kind: 'away'; url: URL }
  | { kind: 'circle'; url: URL };

export interface PersonBrowserOptions {
  /** The only origins that may be visited: the bot's, the service's and the messenger's. */
  allowedOrigins: readonly string[];
  messengerOrigin: string;
  userAgent: string;
  /** The person's secret for the messenger (see AppSessions). */
  sessionSecret: string;
  signal: AbortSignal;
}

/** A person's in-app browser without its window: the app's user agent, the person's cookies, redirects followed. */
export class PersonBrowser {
  readonly #options: PersonBrowserOptions;
  /** Like real browsers, accepts `__Host-` and Secure cookies on plain http on loopback. */
  readonly #jar = new CookieJar(undefined, { prefixSecurity: 'strict', rejectPublicSuffixes: false });

  constructor(options: PersonBrowserOptions) {
    this.#options = options;
  }

  /** Fetches like a top-level navigation: headers, cookies and redirects according to the Fetch standard. */
  async open(request: BrowserRequest): Promise<BrowserResult> {
    let { url, method, body } = request;
    let site: FetchSite = request.from ? siteOf(request.from.origin, url) : 'none';
    for (let hop = 0; hop <= MAX_REDIRECTS; hop += 1) {
      if (!this.#options.allowedOrigins.includes(url.origin)) return { kind: 'outside', url };
      const answer = await this.#fetch({ ...request, url, method, body }, site).catch(() => undefined);
      if (!answer) return { kind: 'away', url };
      const location = answer.headers['location']?.toString();
      const isRedirect = [301, 302, 303, 307, 308].includes(answer.status) && location !== undefined;
      if (!isRedirect || !URL.canParse(location, url.href)) return { kind: 'page', url, ...answer };
      const next = new URL(location, url);
      if (next.hash === '') next.hash = url.hash;
      if (request.from) site = worstSite(site, siteOf(request.from.origin, next));
      if (answer.status === 303 || (answer.status <= 302 && method === 'POST')) [method, body] = ['GET', undefined];
      url = next;
    }
    return { kind: 'circle', url };
  }

  async #fetch(
    { url, method, body, contentType, acceptLanguage, from, destination }: BrowserRequest,
    site: FetchSite,
  ): Promise<HttpResponse> {
    const isNavigation = destination === 'document';
    const sameSiteContext = site === 'cross-site' ? (method === 'GET' && isNavigation ? 'lax' : 'none') : 'strict';
    const cookie = await this.#jar.getCookieString(url.href, { sameSiteContext });
    const origin = method === 'POST' ? originHeader(from, url, site) : undefined;
    const isMessenger = url.origin === this.#options.messengerOrigin;
    const answer = await callHttp(url, {
      method,
      body,
      headers: definedOnly({
        'user-agent': this.#options.userAgent,
        accept: isNavigation ? 'text/html,application/xhtml+xml,*/*;q=0.8' : '*/*',
        'sec-fetch-site': site,
        'sec-fetch-mode': isNavigation ? 'navigate' : 'no-cors',
        'sec-fetch-dest': destination,
        'sec-fetch-user': isNavigation ? '?1' : undefined,
        'upgrade-insecure-requests': isNavigation ? '1' : undefined,
        'accept-language': acceptLanguage,
        'content-type': body && contentType !== undefined ? contentType : undefined,
        cookie: cookie === '' ? undefined : cookie,
        origin,
        [APP_SESSION_HEADER]: isMessenger ? this.#options.sessionSecret : undefined,
      }),
      ...LIMITS,
      signal: this.#options.signal,
    });
    for (const line of [answer.headers['set-cookie'] ?? []].flat()) {
      await this.#jar.setCookie(line, url.href, { ignoreError: true });
    }
    return answer;
  }
}
