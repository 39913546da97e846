import type { Router } from '@koa/router';
import { showSignedOutPage } from '../pages/plain-pages.ts';
import { clearCookies, sessionIdOf } from './cookies.ts';
import { askToSignIn } from './login-routes.ts';
import { chooseSignInPath } from './return-to.ts';
import { afterSignInPath, readServiceAddress } from './service-address.ts';
import { PageError } from './sign-in-errors.ts';
import { signedInPerson, type SignInParts } from './sign-in-parts.ts';

/** `/logout`, and `/sign-in/return`, where the address that a sign-out named is gone to: after the next sign-in, not before. */
export function addLogoutRoutes(router: Router, parts: SignInParts): void {
  const { clients, report, sessions } = parts;

  router.get('/logout', async (ctx) => {
    if (ctx.method !== 'HEAD') {
      await sessions.end(sessionIdOf(ctx));
      clearCookies(ctx);
      report.signInStep({ step: 'signed-out' });
    }
    const service = readServiceAddress(ctx.querystring, clients);
    // By the page that sends nobody off by itself: who signed out is not signed in again by another place's session.
    showSignedOutPage(ctx, service && chooseSignInPath(afterSignInPath(service)));
  });

  router.get('/sign-in/return', async (ctx) => {
    const service = readServiceAddress(ctx.querystring, clients);
    if (!service) throw new PageError('bad_request', 'service is missing, repeated or not registered');
    // A HEAD only looks.
    if (ctx.method === 'HEAD') return void (ctx.status = 200);
    if (!(await signedInPerson(ctx, parts))) return askToSignIn(ctx, parts, afterSignInPath(service));
    return ctx.redirect(service.address);
  });
}
