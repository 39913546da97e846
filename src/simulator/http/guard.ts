import type { Context, Middleware } from 'koa';
import { MessengerError } from '../messenger-error.ts';

/** What the bot calls, and no page. */
const PLATFORM_PATHS = /^\/(cgi-bin|media|files-pri)\//;

/**
 * Keeps other sites away from the messenger: it acts for whoever is picked on its page. A page opened under another
 * host name is redirected to the configured one, the API answers there only, and what changes something must come from
 * the messenger's own page (or from no page at all, as tests do).
 */
export function guard(url: () => string): Middleware {
  return async (context, next) => {
    const own = new URL(url());
    const isApi = context.path.startsWith('/api/');
    if (context.host !== own.host) {
      const isPage = !isApi && !PLATFORM_PATHS.test(context.path);
      // Put behind our origin as it is: `//host` is a path here, and would be another host to a parser.
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
  return new MessengerError('foreign_origin', 'Only the messenger’s own page may do this');
}
