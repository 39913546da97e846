import type { Router } from '@koa/router';
import { showSignedOutPage } from '../pages/plain-pages.ts';
import type { ServiceClient } from '../clients-file.ts';
import type { ServiceReport } from '../service-report.ts';
import type { Login } from './login.ts';
import { chooseSignInPath } from './return-to.ts';
import { afterSignInPath, readServiceAddress } from './service-address.ts';
import { PageError } from './sign-in-errors.ts';
import type { Visitors } from './browser-sessions.ts';

export interface LogoutRouteParts {
  clients: ReadonlyMap<string, ServiceClient>;
  visitors: Visitors;
  login: Login;
  report: ServiceReport;
}

/** `/logout`, and `/sign-in/return`, where the address that a sign-out named is gone to: after the next sign-in, not before. */
export function addLogoutRoutes(router: Router, { clients, visitors, login, report }: LogoutRouteParts): void {
  router.get('/logout', async (ctx) => {
    if (ctx.method !== 'HEAD') {
      await visitors.end(ctx);
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
    if (!(await visitors.signedIn(ctx))) return login.ask(ctx, afterSignInPath(service));
    return ctx.redirect(service.address);
  });
}
