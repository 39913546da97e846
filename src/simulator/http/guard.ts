import type { Context, Middleware } from 'koa';
import { MessengerError } from '../messenger-error.ts';

/** Paths that the bot calls, not the page. */
const PLATFORM_PATHS = /^\/(cgi-bin|media|files-pri)\//;

/**
 * Protects the messenger from other sites, because it acts as the person selected on its page. A page opened under another
 * host name is redirected to the configured one, the API responds only there, and requests with side effects must come from
 * the messenger's own page (or from no page, as in tests).
 */
export function guard(url: () => string): Middleware {
  return async (context, next) => {
    const own = new URL(url());
    const isApi = context.path.startsWith('/api/');
    if (context.host !== own.host) {
      const isPage = !isApi && !PLATFORM_PATHS.test(context.path);
      // Appended to our origin as it is: `//host` is a path here, but would be parsed as another host.
      if (isPage && context.method === 'GET') return context.redirect(`${own.origin}${context.path}${context.search}`);
      if (isApi) throw foreign();
    }
    if (isApi && context.method !== 'GET' && context.method !== 'HEAD' && isFromElsewhere(context, own.origin))
      throw foreign();
    await next();
  };
}

function isFromElsewhere(context: Context, ownOrigin: string): boolean {
  const origin = context.get('origin');
  const site = context.get('sec-fetch-site');
  return (origin !== '' && origin !== ownOrigin) || (site !== '' && site !== 'same-origin');
}

function foreign(): MessengerError {
  return new MessengerError('foreign_origin', 'Only the messenger’s own page is allowed to do this');
}
