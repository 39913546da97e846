import type { Router } from '@koa/router';
import { showAccountPage } from '../pages/account-page.ts';
import { askToSignIn } from './login-routes.ts';
import { signedInPerson, type SignInParts } from './sign-in-parts.ts';

/** `/account`, where people see and withdraw what they agreed to. */
export function addAccountRoutes(router: Router, parts: SignInParts): void {
  const { clients, consents, forms, grants, report } = parts;

  router.get('/account', async (ctx) => {
    const person = await signedInPerson(ctx, parts);
    if (!person) return askToSignIn(ctx, parts, '/account');
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
    const person = await signedInPerson(ctx, parts);
    if (person?.username === username) {
      await consents.withdraw(username, clientId);
      await grants.revokeAll(username, clientId);
      report.signInStep({ step: 'consent-withdrawn', clientId });
    }
    ctx.redirect('/account');
    ctx.status = 303;
  });
}
