import type { Router } from '@koa/router';
import { showAccountPage } from '../pages/account-page.ts';
import type { AuthorizeRouteParts } from './authorize-routes.ts';

/** `/account`, where people see and withdraw their consents. */
export function addAccountRoutes(router: Router, parts: AuthorizeRouteParts): void {
  const { clients, visitors, login, consents, forms, grants, report } = parts;

  router.get('/account', async (ctx) => {
    const person = await visitors.currentPerson(ctx);
    if (!person) return login.ask(ctx, '/account');
    const given = await consents.list(person.username);
    const entries = given.map(({ clientId, givenAtMs, isRemembered }) => ({
      clientName: clients.get(clientId)?.name ?? clientId,
      givenAtMs,
      isRemembered,
      csrf: forms.seal(ctx, { kind: 'withdraw', username: person.username, clientId }),
    }));
    return showAccountPage(ctx, entries);
  });

  router.post('/account/withdraw', async (ctx) => {
    const { username, clientId } = forms.open(ctx, 'withdraw');
    const person = await visitors.currentPerson(ctx);
    if (person?.username === username) {
      await consents.withdraw(username, clientId);
      await grants.revokeAll(username, clientId);
      report.signInStep({ step: 'consent-withdrawn', clientId });
    }
    ctx.redirect('/account');
    ctx.status = 303;
  });
}
