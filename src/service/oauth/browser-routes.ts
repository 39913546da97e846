import { randomBytes } from 'node:crypto';
import { Router } from '@koa/router';
import type { Context, Middleware } from 'koa';
import { asError } from '../../shared/coded-error.ts';
import { isForeignHost } from '../../shared/http/public-host.ts';
import { showErrorPage } from '../pages/error-page.ts';
import { setSafeHeaders, showStyle } from '../pages/layout.ts';
import { showHomePage } from '../pages/plain-pages.ts';
import type { ServiceReport } from '../service-report.ts';
import { formParser } from './parse-form.ts';
import { PageError, StoreError } from './sign-in-errors.ts';

export interface BrowserRoutesOptions {
  /** Adds the routes of the sign-in. */
  addSignIn(router: Router): void;
  /** Public URL for browsers, without a trailing slash. */
  publicUrl: string;
  trustedProxyHops: number;
  report: ServiceReport;
  /** For the home page. */
  models: readonly string[];
  hasEngine: boolean;
}

/** Serves all pages for people, including the one for unknown paths; no further middleware is called. */
export function browserRoutes(options: BrowserRoutesOptions): Middleware {
  const { publicUrl, trustedProxyHops, report, models, hasEngine } = options;
  const router = new Router();
  router.get('/', (ctx) => showHomePage(ctx, { models, hasEngine }));
  options.addSignIn(router);
  const routes = router.routes() as Middleware;
  return async (ctx) => {
    setSafeHeaders(ctx);
    if (showStyle(ctx) || leadsHome(ctx, publicUrl, trustedProxyHops)) return;
    try {
      await parseForm(ctx, () => Promise.resolve());
      await routes(ctx, () => {
        throw new PageError('not_found', 'This page does not exist');
      });
    } catch (thrown) {
      refuse(ctx, thrown, report);
    }
  };
}

const parseForm = formParser(() => {
  throw new PageError('bad_request', 'A form could not be read');
});

const LOOPBACK = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::|$)/;

/**
 * Redirects a page that was opened under another or a foreign host name to our own name, because cookies and forms are bound
 * to it. Without a public URL our own name is a loopback name, which remote browsers cannot be redirected to.
 */
function leadsHome(ctx: Context, publicUrl: string, trustedProxyHops: number): boolean {
  const own = new URL(publicUrl);
  const isElsewhere = LOOPBACK.test(own.host)
    ? LOOPBACK.test(ctx.get('Host')) && ctx.get('Host') !== own.host
    : trustedProxyHops === 0 && isForeignHost(ctx.req, publicUrl);
  if (!isElsewhere || ctx.method !== 'GET') return false;
  ctx.redirect(`${own.origin}${ctx.path}${ctx.search}`);
  ctx.status = 307;
  return true;
}

function refuse(ctx: Context, thrown: unknown, report: ServiceReport): void {
  const error = asPageError(thrown);
  const reference = randomBytes(4).toString('hex');
  if (error.status >= 500) report.failed('sign-in', asError(thrown));
  report.signInStep({ step: 'page-error', reason: `${error.code} ${reference}: ${error.message}` });
  showErrorPage(ctx, error, reference);
}

function asPageError(thrown: unknown): PageError {
  if (thrown instanceof PageError) return thrown;
  if (thrown instanceof StoreError)
    return new PageError('store_away', thrown.message, { retryAfterSec: 5, cause: thrown });
  return new PageError('internal', 'Unexpected error', { cause: thrown });
}
