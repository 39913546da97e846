import type { Middleware } from 'koa';
import { SECOND_MS } from '../base/clock.ts';
import { clientAddress } from './client-address.ts';
import type { SignInFlow } from './flow.ts';
import { PageError } from './pages/page-error.ts';
import type { VisitLimit } from './visit-limit.ts';

interface GuardOptions {
  flow: SignInFlow;
  visits: VisitLimit;
  trustedProxyHops: number;
}

/** A page opened under another host name goes to ours: cookies and the Origin check are bound to it (contract.md 6). */
export function onPublicHost({ flow, trustedProxyHops }: GuardOptions): Middleware {
  const hostname = new URL(flow.publicOrigin).hostname;
  return async (context, next) => {
    // A proxy may pass on its own name for us; then only what it says about the browser's counts.
    const host = trustedProxyHops > 0 ? context.get('X-Forwarded-Host') : context.get('Host');
    const isSafeMethod = context.method === 'GET' || context.method === 'HEAD';
    if (!isSafeMethod || host === '' || hostnameOf(host) === hostname) {
      await next();
      return;
    }
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

/** Counts a visit of the client address to an area of pages; one too many gets E8 (security.md 3.11). */
export function limitVisits({ visits, trustedProxyHops }: GuardOptions, area: 'link' | 'oauth'): Middleware {
  return async (context, next) => {
    const waitMs = await visits.visit(area, clientAddress(context.req, trustedProxyHops));
    if (waitMs !== undefined) throw new PageError('E8', { retryAfterSec: Math.ceil(waitMs / SECOND_MS) });
    await next();
  };
}
