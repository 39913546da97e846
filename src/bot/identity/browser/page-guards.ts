import type { Middleware } from 'koa';
import { clientAddress } from '../../../shared/http/client-address.ts';
import { SECOND_MS } from '../../../shared/clock.ts';
import { isPublicHost } from '../../../shared/http/public-host.ts';
import { pageErrorOf } from './error-answers.ts';
import type { FailureLimit } from '../failure-limit.ts';
import { PageError, type ErrorPage } from '../pages/page-error.ts';

/**
 * A page opened under another host name goes to ours: cookies and the Origin check are bound to it. A form that
 * is sent there is none of ours.
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

/** Pages that whoever has no ticket, no sign-in under way or no form of ours is shown. */
const USELESS: readonly ErrorPage[] = ['link-used-up', 'sign-in-broken-off', 'page-expired'];

/** Counts what an address asks for in vain; when it is too much it is told so (too-many-tries). What leads on is never looked at here. */
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
