import type { IncomingMessage, ServerResponse } from 'node:http';
import type { SafeHtml } from '../../../shared/text/html.ts';
import { inBackground } from '../../../shared/in-background.ts';
import { cookieIn } from '../../../shared/http/cookie-in.ts';
import { listen } from '../../../shared/http/http-server.ts';
import type { CallbackParameter } from '../../../bot/identity/providers/provider.ts';
import { randomToken, sameSecret } from '../../../shared/crypto/ids.ts';
import { languageOfHeader, localize, type Bilingual } from '../../../shared/text/texts.ts';
import { pageHeaders } from '../../../bot/identity/pages/headers.ts';
import { STYLE_SHEET_PATH } from '../../../bot/identity/pages/layout.ts';
import { SIGN_IN_STYLE } from '../../../bot/identity/browser/assets.ts';
import { readCallback } from '../../../bot/identity/browser/request-guards.ts';
import { startPage, statusPage, strangerPage } from './pages.ts';
import type { ProbeSession } from './session.ts';

const COOKIE_NAME = '__Host-probe';
const COOKIE_VALUE = /^[\w-]{43}$/;
const WORKING_REFRESH_SEC = 1;
const SIGN_OUT_REFRESH_SEC = 3;

export interface ProbeServer {
  /** The address to open. Its path is unguessable, and only the first browser that starts there may use it. */
  readonly link: string;
  close(graceMs?: number): Promise<void>;
}

export interface ProbeServerOptions {
  session: ProbeSession;
  /** The service's sign-out address; empty if no step includes signing out. */
  logoutUrl: string;
  /** The callback parameter of the protocol. */
  returns?: CallbackParameter;
  publicUrl: string;
  host: string;
  port: number;
  /** Name of the sign-in service, shown on the pages. */
  serviceName: Bilingual;
}

/**
 * Listens at the bot's address while the probe runs, because the redirect address is registered for the bot. All other
 * requests get 503, so that platforms redeliver their events later.
 * @throws Error `EADDRINUSE` if the port is in use
 */
export async function startProbeServer(options: ProbeServerOptions): Promise<ProbeServer> {
  const { session, logoutUrl, returns, publicUrl, host, port, serviceName } = options;
  const path = `/sign-in/probe/${randomToken()}`;
  const headers = pageHeaders({});
  let cookie: string | undefined;

  const isOurs = (request: IncomingMessage) => {
    const given = cookieIn(request.headers.cookie, COOKIE_NAME, COOKIE_VALUE);
    return cookie !== undefined && given !== undefined && sameSecret(given, cookie);
  };
  const view = (request: IncomingMessage) => {
    const language = languageOfHeader(request.headers['accept-language']);
    return { language, path, header: localize(serviceName, language) };
  };
  const show = (response: ServerResponse, status: number, body: SafeHtml, more: Record<string, string> = {}) => {
    response.writeHead(status, { ...headers, 'content-type': 'text/html; charset=utf-8', ...more }).end(body.text);
  };
  const goTo = (response: ServerResponse, location: string) => {
    response.writeHead(303, { ...headers, 'referrer-policy': 'no-referrer', location }).end();
  };
  const showStatus = (request: IncomingMessage, response: ServerResponse, more: Record<string, string> = {}) => {
    const refresh = refreshOf(session, path);
    show(response, 200, statusPage(view(request), session, logoutUrl), { ...refresh, ...more });
  };
  const refuse = (request: IncomingMessage, response: ServerResponse, status: number) =>
    show(response, status, strangerPage(view(request), isOurs(request)));

  const begin = (request: IncomingMessage, response: ServerResponse) => {
    if (cookie !== undefined || !isOwnForm(request, publicUrl)) return refuse(request, response, 403);
    cookie = randomToken();
    // No redirect, because browsers would apply the page's `form-action` policy to it, and not all hosts of the service are
    // known.
    return showStatus(request, response, {
      'set-cookie': `${COOKIE_NAME}=${cookie}; Path=/; Max-Age=900; Secure; HttpOnly; SameSite=Lax`,
    });
  };
  const callback = (request: IncomingMessage, response: ServerResponse, querystring: string) => {
    if (!isOurs(request)) return refuse(request, response, 400);
    const query = readCallback(querystring, returns);
    const back = { all: new URLSearchParams(querystring), error: knownErrorIn(querystring) };
    // After a sign-out, the service may return the browser to the only address that it knows.
    if (session.phase === 'signing-out' && query === undefined) session.signedOut();
    else if (query === undefined || !session.arrive(query, back)) return refuse(request, response, 400);
    return goTo(response, path);
  };
  const decide = (request: IncomingMessage, response: ServerResponse, act: () => void) => {
    if (!isOurs(request) || !isOwnForm(request, publicUrl)) return refuse(request, response, 403);
    act();
    return showStatus(request, response);
  };

  const answer = (request: IncomingMessage, response: ServerResponse) => {
    const [pathname = '', querystring = ''] = (request.url ?? '').split('?', 2);
    switch (`${request.method ?? ''} ${pathname}`) {
      case `GET ${path}`:
        if (cookie === undefined) return show(response, 200, startPage(view(request), session.stepCount));
        return isOurs(request) ? showStatus(request, response) : refuse(request, response, 403);
      case `POST ${path}/start`:
        return begin(request, response);
      case `GET ${path}/go`:
        if (!isOurs(request)) return refuse(request, response, 403);
        return inBackground(
          async () => goTo(response, (await session.depart()) ?? path),
          () => response.writeHead(500).end(),
        );
      case `POST ${path}/skip`:
        return decide(request, response, () => session.skip());
      case `POST ${path}/signed-out`:
        return decide(request, response, () => session.signedOut());
      case 'GET /oauth/callback':
        return callback(request, response, querystring);
      case `GET ${STYLE_SHEET_PATH}`:
        return void response.writeHead(200, { 'content-type': 'text/css' }).end(SIGN_IN_STYLE);
      // A proxy may forward browsers only to healthy instances.
      case 'GET /healthz':
      case 'GET /readyz':
        return void response.writeHead(200, { 'content-type': 'application/json' }).end('{"status":"probe"}');
      default:
        return void response.writeHead(503, { 'retry-after': '60' }).end();
    }
  };
  const server = await listen(answer, port, host);
  return { link: `${publicUrl}${path}`, close: (graceMs) => server.close(graceMs) };
}

/** Pages without a decision continue by a refresh header, because they have no script. */
function refreshOf({ phase }: ProbeSession, path: string): Record<string, string> {
  if (phase === 'ready') return { refresh: `0; url=${path}/go` };
  if (phase === 'working') return { refresh: `${WORKING_REFRESH_SEC}; url=${path}` };
  if (phase === 'signing-out') return { refresh: `${SIGN_OUT_REFRESH_SEC}; url=${path}` };
  return {};
}

/**
 * The errors of RFC 6749 section 4.1.2.1 and OpenID Connect Core section 3.1.2.6. Other texts from the service are not
 * shown.
 */
const KNOWN_ERRORS = [
  'invalid_request',
  'unauthorized_client',
  'access_denied',
  'unsupported_response_type',
  'invalid_scope',
  'server_error',
  'temporarily_unavailable',
  'interaction_required',
  'login_required',
  'account_selection_required',
  'consent_required',
];

function knownErrorIn(querystring: string): string | undefined {
  const error = new URLSearchParams(querystring).get('error');
  return KNOWN_ERRORS.find((known) => known === error);
}

function isOwnForm({ headers }: IncomingMessage, publicUrl: string): boolean {
  const { origin } = headers;
  const site = headers['sec-fetch-site'];
  return (origin === undefined || origin === publicUrl) && (site === undefined || site === 'same-origin');
}
