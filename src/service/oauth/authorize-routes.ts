import type { Router } from '@koa/router';
import type { Context } from 'koa';
import type { ServiceClient } from '../clients-file.ts';
import type { Person } from '../directory-file.ts';
import { showConsentPage } from '../pages/consent-page.ts';
import type { ServiceReport } from '../service-report.ts';
import { formTarget, readAuthorizeRequest, redirectAddress, type AuthorizeRequest } from './authorize-request.ts';
import type { Consents } from './consents.ts';
import { formField, type Forms } from './forms.ts';
import type { Grants } from './grants.ts';
import type { Login } from './login.ts';
import { PageError } from './sign-in-errors.ts';
import type { BrowserSessions } from './browser-sessions.ts';

/** What the routes of signed-in people work with. */
export interface AuthorizeRouteParts {
  clients: ReadonlyMap<string, ServiceClient>;
  visitors: BrowserSessions;
  login: Login;
  consents: Consents;
  forms: Forms;
  grants: Grants;
  report: ServiceReport;
}

/** `/oauth2.0/authorize` and the consent form. */
export function addAuthorizeRoutes(router: Router, parts: AuthorizeRouteParts): void {
  router.get('/oauth2.0/authorize', async (ctx) => {
    const reading = readAuthorizeRequest(ctx.querystring, parts.clients);
    if ('redirectTo' in reading) return ctx.redirect(reading.redirectTo);
    // HEAD has no effects: it starts no sign-in and uses no remembered consent.
    if (ctx.method === 'HEAD') return void (ctx.status = 200);
    const { request } = reading;
    const person = await parts.visitors.currentPerson(ctx);
    const returnTo = `/oauth2.0/authorize?${ctx.querystring}`;
    if (!person) return parts.login.ask(ctx, returnTo);
    if (await parts.consents.isRemembered(person.username, request.clientId, request.scope))
      return goBack(ctx, parts, { person, request });
    return askForConsent(ctx, parts, { person, request, returnTo });
  });
  router.post('/oauth2.0/decision', (ctx) => decide(ctx, parts));
}

interface Asked {
  person: Person;
  request: AuthorizeRequest;
  returnTo: string;
}

function askForConsent(ctx: Context, parts: AuthorizeRouteParts, { person, request, returnTo }: Asked): void {
  showConsentPage(ctx, {
    csrf: parts.forms.seal(ctx, { kind: 'consent', username: person.username, returnTo, request }),
    clientName: parts.clients.get(request.clientId)?.name ?? request.clientId,
    person,
    redirectUri: request.redirectUri,
    formTargets: [formTarget(request.redirectUri)],
    canSwitch: parts.visitors.appFor(ctx) === undefined,
  });
}

async function decide(ctx: Context, parts: AuthorizeRouteParts): Promise<void> {
  const { username, returnTo, request } = parts.forms.open(ctx, 'consent');
  const person = await parts.visitors.currentPerson(ctx);
  // The session has ended, or another person has signed in meanwhile, so consent must be requested again.
  if (person?.username !== username) return seeOther(ctx, person ? returnTo : parts.login.againPath(ctx, returnTo));
  switch (formField(ctx, 'decision')) {
    case 'allow':
      await parts.consents.give(username, {
        clientId: request.clientId,
        scope: request.scope,
        isRemembered: formField(ctx, 'remember') === 'yes',
      });
      return goBack(ctx, parts, { person, request });
    case 'deny':
      parts.report.signInStep({ step: 'consent-denied', clientId: request.clientId });
      return seeOther(ctx, redirectAddress(request.redirectUri, { error: 'access_denied', state: request.state }));
    case 'switch':
      await parts.visitors.end(ctx);
      return seeOther(ctx, parts.login.againPath(ctx, returnTo));
    case undefined:
    default:
      throw new PageError('bad_request', 'The consent form contains no decision');
  }
}

/** Redirects to the client with a new code. */
async function goBack(
  ctx: Context,
  parts: AuthorizeRouteParts,
  { person, request }: Omit<Asked, 'returnTo'>,
): Promise<void> {
  const { state, ...consented } = request;
  const code = await parts.grants.issueCode({ challenge: undefined, ...consented, username: person.username });
  parts.report.signInStep({ step: 'code-issued', clientId: request.clientId });
  seeOther(ctx, redirectAddress(request.redirectUri, { code, state }));
}

/** After a form the browser must continue with GET, whatever method it used. */
function seeOther(ctx: Context, address: string): void {
  ctx.redirect(address);
  ctx.status = 303;
}
