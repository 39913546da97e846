import type { Middleware } from 'koa';
import { clientAddress } from '../../../shared/http/client-address.ts';
import { SECOND_MS } from '../../../shared/clock.ts';
import { isPublicHost } from '../../../shared/http/public-host.ts';
import { pageErrorOf } from './error-answers.ts';
import type { FailureLimit } from '../failure-limit.ts';
import type { ErrorPage } from '../pages/error-texts.ts';
import { PageError } from '../pages/page-error.ts';

/**
 * Redirects pages opened under another host name to the public one, because cookies and the Origin check are bound to it.
 * Forms sent to another host are refused.
 */
export function onPublicHost(publicOrigin: string, trustedProxyHops: number): Middleware {
  return async (context, next) => {
    if (isPublicHost(context.req, publicOrigin, trustedProxyHops)) {
      await next();
      return;
    }
    if (context.method !== 'GET' && context.method !== 'HEAD') throw new PageError('page-expired');
    context.set({ 'Cache-Control': 'no-store', 'Referrer-Policy': 'no-referrer' });
    context.status = 307;
    context.set('Location', `${publicOrigin}${context.path}${context.search}`);
    context.body = null;
    context.status = 307;
  };
}

/** Error pages for requests without a valid invitation, sign-in or form. */
const USELESS: readonly ErrorPage[] = ['link-used-up', 'sign-in-broken-off', 'page-expired'];

/** Counts an address's failed requests and answers too-many-tries above the limit. Successful requests are not counted. */
export function limitFailures(failures: FailureLimit, trustedProxyHops: number): Middleware {
  return async (context, next) => {
    try {
      await next();
    } catch (thrown) {
      if (!USELESS.includes(pageErrorOf(thrown).code)) throw thrown;
      const waitMs = await failures.count(clientAddress(context.req, trustedProxyHops));
      if (waitMs === undefined) throw thrown;
      throw new PageError('too-many-tries', { retryAfterSec: Math.ceil(waitMs / SECOND_MS) });
    }
  };
}
