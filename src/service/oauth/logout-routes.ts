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

/** `/logout`, and `/sign-in/return`, which redirects to the address given at sign-out, but only after the next sign-in. */
export function addLogoutRoutes(router: Router, { clients, visitors, login, report }: LogoutRouteParts): void {
  router.get('/logout', async (ctx) => {
    if (ctx.method !== 'HEAD') {
      await visitors.end(ctx);
      report.signInStep({ step: 'signed-out' });
    }
    const service = readServiceAddress(ctx.querystring, clients);
    // Through the page without automatic redirect, so that an existing session elsewhere does not sign the person in again.
    showSignedOutPage(ctx, service && chooseSignInPath(afterSignInPath(service)));
  });

  router.get('/sign-in/return', async (ctx) => {
    const service = readServiceAddress(ctx.querystring, clients);
    if (!service) throw new PageError('bad_request', 'service is missing, repeated or not registered');
    // HEAD has no effects.
    if (ctx.method === 'HEAD') return void (ctx.status = 200);
    if (!(await visitors.signedIn(ctx))) return login.ask(ctx, afterSignInPath(service));
    return ctx.redirect(service.address);
  });
}
