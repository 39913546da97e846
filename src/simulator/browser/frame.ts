import type { IncomingMessage, ServerResponse } from 'node:http';
import { inBackground } from '../../shared/in-background.ts';
import { MIB_BYTES } from '../../shared/clock.ts';
import { listen, type ListeningServer } from '../../shared/http/http-server.ts';
import { languageOfHeader } from '../../shared/text/texts.ts';
import { readBody } from '../http/read-body.ts';
import { MESSENGER_TEXTS } from '../messenger-texts.ts';
import { appScript, withAppScript, withAppScriptAllowed } from './app-script.ts';
import { FrameAddresses, type FrameTarget } from './frame-address.ts';
import { noticePolicy, noticePage, type Notice } from './notice-page.ts';
import type { BrowserRequest, BrowserResult, PersonBrowser } from './person-browser.ts';
import { rewriteHeaders, rewriteHtml } from './rewrite-page.ts';

const OUTCOME = /<html\b[^<>]*\sdata-outcome="(?<outcome>[\w-]+)"/i;

/** How far the flow of a page has progressed; intermediate pages report nothing. */
function outcomeOf(page: string): string | undefined {
  return OUTCOME.exec(page)?.groups?.['outcome'];
}

/**
 * Whether a page reports completion without anything left to read or retry: the bot's page after a sign-in, and the page
 * after a sign-out, which may be the sign-in service's.
 * @param origins the bot's, then the service's
 */
function isClosingPage(page: string, origin: string, origins: readonly string[]): boolean {
  const outcome = outcomeOf(page);
  if (outcome === 'done') return origin === origins[0];
  return outcome === 'signed-out' && origins.includes(origin);
}

export interface FrameOptions {
  browser: PersonBrowser;
  startUrl: URL;
  allowedOrigins: readonly string[];
  messengerOrigin: string;
  /** The bot's origin, then the service's: only their pages may report completion. */
  trustedOrigins: readonly string[];
  /**
   * Whether a request comes from the browser of the user who started Parley; required because the frame acts as a person.
   */
  isOwner(request: IncomingMessage): boolean;
  /** Called with the host (and port) of each displayed page, and whether it reports completion. */
  onShow(host: string, isDone: boolean): void;
  /** Called when a page navigates back to the chat. */
  onBack(): void;
  /** Called for each request, to detect idle frames. */
  onUse(): void;
}

type Page = Extract<BrowserResult, { kind: 'page' }>;
type PageTarget = Extract<FrameTarget, { kind: 'start' | 'elsewhere' | 'here' }>;

const MAX_FORM_BYTES = MIB_BYTES;
const formTooLarge = () => new RangeError('The form is larger than 1 MB');
const MAX_REMEMBERED_PATHS = 200;

/**
 * One window of a person's in-app browser: a loopback listener that fetches pages for the person and shows the last one. The
 * listener's path always equals the displayed page's path, which keeps relative links and "back" working.
 */
export class Frame {
  readonly #options: FrameOptions;
  readonly #addresses: FrameAddresses;
  #listener: ListeningServer | undefined;
  #current: { origin: string; referrerPolicy: string } | undefined;
  /** A fetched page that is shown once, at its own path. */
  #pending: { path: string; page: Page } | undefined;
  /** Origin of each displayed path, because "back" may lead to paths of a previous origin. */
  readonly #originOfPath = new Map<string, string>();

  constructor(options: FrameOptions) {
    this.#options = options;
    this.#addresses = new FrameAddresses(options.allowedOrigins);
  }

  /** Opens the listener. @returns the address for the iframe */
  async open(): Promise<string> {
    this.#listener = await listen(
      (request, response) => inBackground(() => this.#serve(request, response)),
      0,
      '127.0.0.1',
    );
    return this.#listener.url + this.#addresses.start;
  }

  async close(): Promise<void> {
    await this.#listener?.close();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      this.#options.onUse();
      const isRefused = refuseForeignRequest(request, this.#listener?.url ?? '') || !this.#options.isOwner(request);
      if (isRefused) return void response.writeHead(403).end();
      const path = request.url ?? '/';
      if (isNavigation(request)) await this.#navigate(path, request, response);
      else await this.#passOn(path, request, response);
    } catch {
      if (!response.headersSent) response.writeHead(500);
      response.end();
    }
  }

  async #navigate(path: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const pending = this.#pending;
    this.#pending = undefined;
    if (request.method === 'GET' && pending?.path === path) return this.#show(pending.page, response);
    const target = this.#addresses.targetOf(path);
    if (target.kind === 'back') {
      response.writeHead(204).end();
      return this.#options.onBack();
    }
    if (target.kind === 'outside')
      return this.#showResult({ kind: 'outside', url: new URL(target.url) }, request, response);
    if (!isPage(target)) return void response.writeHead(404).end();
    const url = this.#targetUrl(target, request);
    const from = target.kind === 'start' ? undefined : this.#initiator(request);
    const result = await this.#options.browser.open({
      ...(await this.#requestOf(request)),
      url,
      from,
      destination: 'document',
    });
    if (result.kind !== 'page') return this.#showResult(result, request, response);
    this.#remember(result);
    const ownPath = this.#addresses.pathOf(result.url, result.url.origin);
    if (ownPath.split('#')[0] === path) return this.#show(result, response);
    this.#pending = { path: ownPath.split('#')[0] ?? '/', page: result };
    response.writeHead(303, { location: ownPath, 'cache-control': 'no-store' }).end();
  }

  /** A style sheet or an image of the displayed page. */
  async #passOn(path: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const target = this.#addresses.targetOf(path);
    if (target.kind === 'script') return this.#sendScript(response);
    if (!isPage(target) || target.kind === 'start') return void response.writeHead(404).end();
    const destination = request.headers['sec-fetch-dest'] ?? 'empty';
    const url = this.#targetUrl(target, request);
    const result = await this.#options.browser.open({
      ...(await this.#requestOf(request)),
      url,
      from: this.#current,
      destination,
    });
    if (result.kind !== 'page') return void response.writeHead(502).end();
    response.writeHead(result.status, rewriteHeaders(result.headers, this.#options.messengerOrigin)).end(result.body);
  }

  #show(page: Page, response: ServerResponse): void {
    const { messengerOrigin, trustedOrigins, onShow } = this.#options;
    const ownHeaders = rewriteHeaders(page.headers, messengerOrigin);
    const html = /^text\/html\b/i.test(page.contentType ?? '') ? page.body.toString('utf8') : undefined;
    onShow(page.url.host, html !== undefined && isClosingPage(html, page.url.origin, trustedOrigins));
    const headers = html === undefined ? ownHeaders : this.#withScript(ownHeaders);
    const body = html === undefined ? page.body : Buffer.from(this.#written(html, page.url));
    response.writeHead(page.status, { ...headers, 'content-length': String(body.length) }).end(body);
  }

  #written(html: string, pageUrl: URL): string {
    return withAppScript(rewriteHtml(html, { addresses: this.#addresses, pageUrl }), this.#addresses);
  }

  #withScript(headers: Record<string, string>): Record<string, string> {
    const policy = headers['content-security-policy'] ?? '';
    const address = `${this.#listener?.url ?? ''}${this.#addresses.script}`;
    return { ...headers, 'content-security-policy': withAppScriptAllowed(policy, address) };
  }

  #sendScript(response: ServerResponse): void {
    const headers = { 'content-type': 'text/javascript; charset=utf-8', 'cache-control': 'no-store' };
    response.writeHead(200, headers).end(appScript(this.#addresses));
  }

  #showResult(result: Exclude<BrowserResult, Page>, request: IncomingMessage, response: ServerResponse): void {
    const language = languageOfHeader(request.headers['accept-language']);
    const { host, href } = result.url;
    const notices: Record<typeof result.kind, Notice> = {
      outside: { language, title: MESSENGER_TEXTS.outsideTitle, text: MESSENGER_TEXTS.outsideText, link: href },
      away: {
        language,
        title: MESSENGER_TEXTS.awayTitle,
        text: MESSENGER_TEXTS.awayText,
        values: { host },
        retry: this.#addresses.start,
      },
      circle: {
        language,
        title: MESSENGER_TEXTS.awayTitle,
        text: MESSENGER_TEXTS.tooManyRedirects,
        retry: this.#addresses.start,
      },
    };
    this.#options.onShow(host, false);
    const headers = { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' };
    const policy = `${noticePolicy()}; frame-ancestors ${this.#options.messengerOrigin}`;
    const status = result.kind === 'outside' ? 200 : 502;
    response.writeHead(status, this.#withScript({ ...headers, 'content-security-policy': policy }));
    response.end(withAppScript(noticePage(notices[result.kind]), this.#addresses));
  }

  #targetUrl(target: PageTarget, request: IncomingMessage): URL {
    if (target.kind === 'start') return this.#options.startUrl;
    if (target.kind === 'elsewhere') return target.url;
    const known = this.#originOfPath.get(target.path);
    const asking = this.#originOfReferrer(request);
    const [first, second] = request.method === 'GET' ? [known, asking] : [asking, known];
    return new URL((first ?? second ?? this.#current?.origin ?? this.#options.startUrl.origin) + target.path);
  }

  /** The page where a navigation starts: the one that the request names, otherwise the last one displayed. */
  #initiator(request: IncomingMessage): BrowserRequest['from'] {
    const asking = this.#originOfReferrer(request);
    return this.#current && asking !== undefined ? { ...this.#current, origin: asking } : this.#current;
  }

  #originOfReferrer(request: IncomingMessage): string | undefined {
    const referrer = request.headers.referer;
    if (referrer === undefined || !URL.canParse(referrer)) return undefined;
    const { pathname, search } = new URL(referrer);
    return this.#originOfPath.get(pathname + search);
  }

  #remember({ url, headers }: Page): void {
    this.#current = { origin: url.origin, referrerPolicy: String(headers['referrer-policy'] ?? '').toLowerCase() };
    const [oldest] = this.#originOfPath.keys();
    if (oldest !== undefined && this.#originOfPath.size >= MAX_REMEMBERED_PATHS) this.#originOfPath.delete(oldest);
    this.#originOfPath.set(url.pathname + url.search, url.origin);
  }

  async #requestOf(
    request: IncomingMessage,
  ): Promise<Pick<BrowserRequest, 'method' | 'body' | 'contentType' | 'acceptLanguage'>> {
    const acceptLanguage = request.headers['accept-language'];
    if (request.method !== 'POST') return { method: 'GET', acceptLanguage };
    const contentType = request.headers['content-type'];
    return { method: 'POST', body: await readBody(request, MAX_FORM_BYTES, formTooLarge), contentType, acceptLanguage };
  }
}

function isPage(target: FrameTarget): target is PageTarget {
  return target.kind === 'start' || target.kind === 'elsewhere' || target.kind === 'here';
}

/** Old browsers send no `Sec-Fetch-Dest`; `Accept` is used instead. */
function isNavigation(request: IncomingMessage): boolean {
  const destination = request.headers['sec-fetch-dest'];
  if (destination !== undefined)
    return destination === 'iframe' || destination === 'document' || destination === 'frame';
  return request.method === 'POST' || /text\/html|^\*\/\*$/.test(request.headers.accept ?? '*/*');
}

/**
 * Whether a request to a frame's listener must be rejected. The listener acts as a person, so other sites that the developer
 * has open must not reach it: not through another host name (DNS rebinding), not across sites, and forms only from the
 * frame's own pages.
 */
function refuseForeignRequest(request: IncomingMessage, ownUrl: string): boolean {
  if (`http://${request.headers.host}` !== ownUrl) return true;
  if (request.method !== 'GET' && request.method !== 'POST') return true;
  const site = request.headers['sec-fetch-site'];
  if (site === 'cross-site') return true;
  if (request.method === 'GET') return false;
  if (site !== undefined) return site !== 'same-origin';
  return request.headers.origin !== undefined && request.headers.origin !== ownUrl;
}
