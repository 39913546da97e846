import { readFileSync } from 'node:fs';
import Router from '@koa/router';
import type { Context, Middleware } from 'koa';
import bodyParser from 'koa-bodyparser';
import { SECOND_MS } from '../base/clock.ts';
import { languageOfHeader } from '../base/texts.ts';
import type { PlatformName } from '../platforms/platform.ts';
import { clientAddress } from './client-address.ts';
import { cancelSignIn, confirmSignIn, showConfirm } from './confirm-sign-in.ts';
import { answerErrors } from './error-answers.ts';
import type { BrowserRequest, Outcome, SignInFlow } from './flow.ts';
import { STYLE_SHEET_PATH } from './pages/layout.ts';
import { PageError } from './pages/page-error.ts';
import { pageHeaders, type PageHeaders } from './pages/headers.ts';
import { readBrowserCookie, writeBrowserCookie } from './request-guards.ts';
import { returnFromPlatform } from './return-from-platform.ts';
import { returnFromService } from './return-from-service.ts';
import { showLanding, startAgain, startSignIn } from './start-sign-in.ts';
import type { VisitLimit } from './visit-limit.ts';

const STYLE_SHEET = readFileSync(new URL('./pages/sign-in.css', import.meta.url), 'utf8');
const MAX_FORM = '8kb';

export interface RouteOptions {
  flow: SignInFlow;
  visits: VisitLimit;
  platformNames: readonly PlatformName[];
  /** Where the forms' answers may lead. */
  formOrigins: readonly string[];
  trustedProxyHops: number;
  helpUrl?: string;
}

/** The sign-in's pages and callbacks (contract.md 4). */
export function createRoutes(options: RouteOptions): Router {
  const { flow } = options;
  const headers = pageHeaders(options.formOrigins);
  const router = new Router();
  const form = bodyParser({ enableTypes: ['form'], formLimit: MAX_FORM });
  const guard = [answerErrors({ ...options, headers }), onPublicHost(options)];
  const limited = (area: 'link' | 'oauth') => [...guard, limitVisits(options, area)];
  const step =
    (run: Step): Middleware =>
    async (context) =>
      send(context, headers, await run(flow, browserRequest(context), context.params));

  router.get(
    '/link/:ticket',
    ...limited('link'),
    step((...[, request, { ticket }]) => showLanding(flow, request, ticket ?? '')),
  );
  router.post(
    '/link/:ticket/start',
    ...limited('link'),
    form,
    step((...[, request, { ticket }]) => startSignIn(flow, request, ticket ?? '')),
  );
  router.post('/sign-in/again', ...limited('link'), form, step(startAgain));
  router.get('/oauth/callback', ...limited('oauth'), step(returnFromService));
  for (const name of options.platformNames) {
    router.get(
      `/oauth/platform/${name}/callback`,
      ...limited('oauth'),
      step((...[, request]) => returnFromPlatform(flow, request, name)),
    );
  }
  router.get('/sign-in/confirm', ...guard, step(showConfirm));
  router.post('/sign-in/confirm', ...guard, form, step(confirmSignIn));
  router.post('/sign-in/cancel', ...guard, form, step(cancelSignIn));
  router.get(STYLE_SHEET_PATH, (context) => {
    context.set({ 'Cache-Control': 'public, max-age=3600', 'X-Content-Type-Options': 'nosniff' });
    context.type = 'text/css';
    context.body = STYLE_SHEET;
  });
  return router;
}

type Step = (
  flow: SignInFlow,
  request: BrowserRequest,
  parameters: Readonly<Record<string, string | undefined>>,
) => Promise<Outcome>;

/** A page opened under another host name goes to ours: cookies and the Origin check are bound to it (contract.md 6). */
function onPublicHost({ flow, trustedProxyHops }: RouteOptions): Middleware {
  const hostname = new URL(flow.publicOrigin).hostname;
  return async (context, next) => {
    // A proxy may pass on its own name for us; then only what it says about the browser's counts.
    const host = trustedProxyHops > 0 ? context.get('X-Forwarded-Host') : context.get('Host');
    const isSafeMethod = context.method === 'GET' || context.method === 'HEAD';
    if (!isSafeMethod || host === '' || hostnameOf(host) === hostname) return next();
    context.set({ 'Cache-Control': 'no-store', 'Referrer-Policy': 'no-referrer' });
    context.status = 307;
    context.set('Location', `${flow.publicOrigin}${context.path}${context.search}`);
    context.body = null;
    context.status = 307;
  };
}

function hostnameOf(host: string): string {
  try {
    return new URL(`http://${host}`).hostname;
  } catch {
    return '';
  }
}

function limitVisits({ visits, trustedProxyHops }: RouteOptions, area: 'link' | 'oauth'): Middleware {
  return async (context, next) => {
    const waitMs = await visits.visit(area, clientAddress(context.req, trustedProxyHops));
    if (waitMs !== undefined) throw new PageError('E8', { retryAfterSec: Math.ceil(waitMs / SECOND_MS) });
    await next();
  };
}

function browserRequest(context: Context): BrowserRequest {
  const cookie = readBrowserCookie(context.headers.cookie);
  const { origin } = context.headers;
  const secFetchSite = context.headers['sec-fetch-site'];
  const body: unknown = context.request.body;
  return {
    language: languageOfHeader(context.headers['accept-language']),
    userAgent: context.get('User-Agent'),
    querystring: context.querystring,
    form: typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {},
    ...(cookie === undefined ? {} : { cookie }),
    ...(origin === undefined ? {} : { origin }),
    ...(typeof secFetchSite === 'string' ? { secFetchSite } : {}),
  };
}

function send(context: Context, headers: PageHeaders, outcome: Outcome): void {
  context.set(headers);
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
