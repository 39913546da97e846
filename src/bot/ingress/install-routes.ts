import Router from '@koa/router';
import type { Context } from 'koa';
import { asError } from '../../shared/coded-error.ts';
import { cookieIn } from '../../shared/http/cookie-in.ts';
import type { Log } from '../../shared/log.ts';
import { languageOfHeader, localize, type Bilingual } from '../../shared/text/texts.ts';
import type { InstallOutcome, InstallPages, Platform } from '../platforms/platform.ts';
import { INSTALL_TEXTS } from '../i18n/install-texts.ts';

/** Binds the browser to its installation attempt. Browsers refuse the `__Host-` prefix without `Secure`. */
const COOKIE = '__Host-install';
const COOKIE_LIFE_SEC = 10 * 60;
const COOKIE_VALUE = /^[A-Za-z0-9_-]{43}$/;

const ANSWERS: Readonly<Record<InstallOutcome | 'away', { status: number; text: Bilingual }>> = {
  installed: { status: 200, text: INSTALL_TEXTS.installed },
  'not-invited': { status: 403, text: INSTALL_TEXTS.notInvited },
  declined: { status: 200, text: INSTALL_TEXTS.declined },
  'not-begun-here': { status: 400, text: INSTALL_TEXTS.notBegunHere },
  refused: { status: 502, text: INSTALL_TEXTS.refused },
  away: { status: 503, text: INSTALL_TEXTS.away },
};

/**
 * Routes by which an administrator installs the app in a further organisation: `/install/NAME`, and the return from
 * the platform.
 */
export function installRoutes(platforms: readonly Platform[], log: Log): Router {
  const router = new Router();
  for (const { name, install } of platforms) {
    if (!install) continue;
    router.get(`/install/${name}`, (context) => {
      const { location, cookie } = install.begin();
      setHeaders(context);
      context.append('Set-Cookie', cookieLine(cookie, COOKIE_LIFE_SEC));
      context.status = 303;
      context.set('Location', location);
      context.body = '';
      context.status = 303;
    });
    router.get(`/oauth/platform/${name}/installed`, async (context) => {
      const outcome = await finish(install, context).catch((thrown: unknown) => {
        log.warn({ error: asError(thrown), platform: name }, 'an installation could not be stored');
        return 'away' as const;
      });
      const { status, text } = ANSWERS[outcome];
      log.info({ platform: name, outcome }, 'an administrator returned from the platform');
      setHeaders(context);
      // An attempt is valid for one return; a second return requires a new attempt.
      context.append('Set-Cookie', cookieLine('', 0));
      context.status = status;
      context.type = 'text/plain; charset=utf-8';
      context.body = `${localize(text, languageOfHeader(context.get('Accept-Language')))}\n`;
    });
  }
  return router;
}

function finish(install: InstallPages, context: Context): Promise<InstallOutcome> {
  return install.finish(
    new URLSearchParams(context.querystring),
    cookieIn(context.headers.cookie, COOKIE, COOKIE_VALUE),
  );
}

function cookieLine(value: string, lifeSec: number): string {
  return `${COOKIE}=${value}; Path=/; Max-Age=${lifeSec}; Secure; HttpOnly; SameSite=Lax`;
}

function setHeaders(context: Context): void {
  context.set({
    'Cache-Control': 'no-store',
    'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'; base-uri 'none'",
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
    Vary: 'Accept-Language',
  });
}
