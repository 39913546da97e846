import type { Router } from '@koa/router';
import type { Context } from 'koa';
import type { Person } from '../directory-file.ts';
import { showConsentPage } from '../pages/consent-page.ts';
import { formTarget, readAuthorizeRequest, redirectAddress, type AuthorizeRequest } from './authorize-request.ts';
import { clearCookies, sessionIdOf } from './cookies.ts';
import { formField } from './forms.ts';
import { askToSignIn, signInAgainPath } from './login-routes.ts';
import { PageError } from './sign-in-errors.ts';
import { appFor, signedInPerson, type SignInParts } from './sign-in-parts.ts';

/** `/oauth2.0/authorize` and the consent form. */
export function addAuthorizeRoutes(router: Router, parts: SignInParts): void {
  router.get('/oauth2.0/authorize', async (ctx) => {
    const reading = readAuthorizeRequest(ctx.querystring, parts.clients);
    if ('redirectTo' in reading) return ctx.redirect(reading.redirectTo);
    // A HEAD only looks: it starts no sign-in and uses no remembered consent.
    if (ctx.method === 'HEAD') return void (ctx.status = 200);
    const { request } = reading;
    const person = await signedInPerson(ctx, parts);
    const returnTo = `/oauth2.0/authorize?${ctx.querystring}`;
    if (!person) return askToSignIn(ctx, parts, returnTo);
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

function askForConsent(ctx: Context, parts: SignInParts, { person, request, returnTo }: Asked): void {
  showConsentPage(ctx, {
    csrf: parts.forms.seal(ctx, { kind: 'consent', username: person.username, returnTo, request }),
    clientName: parts.clients.get(request.clientId)?.name ?? request.clientId,
    person,
    redirectUri: request.redirectUri,
    formTargets: [formTarget(request.redirectUri)],
    canSwitch: appFor(ctx, parts) === undefined,
  });
}

async function decide(ctx: Context, parts: SignInParts): Promise<void> {
  const { username, returnTo, request } = parts.forms.open(ctx, 'consent');
  const person = await signedInPerson(ctx, parts);
  // The session ended, or somebody else signed in meanwhile: what was asked has to be asked anew.
  if (person?.username !== username) return seeOther(ctx, person ? returnTo : signInAgainPath(ctx, parts, returnTo));
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
      await parts.sessions.end(sessionIdOf(ctx));
      clearCookies(ctx);
      return seeOther(ctx, signInAgainPath(ctx, parts, returnTo));
    case undefined:
    default:
      throw new PageError('bad_request', 'The consent form came without a decision');
  }
}

/** Back to the client with a new code. */
async function goBack(ctx: Context, parts: SignInParts, { person, request }: Omit<Asked, 'returnTo'>): Promise<void> {
  const { clientId, redirectUri, scope, challenge, state } = request;
  const code = await parts.grants.issueCode({ username: person.username, clientId, redirectUri, scope, challenge });
  parts.report.signInStep({ step: 'code-issued', clientId });
  seeOther(ctx, redirectAddress(redirectUri, { code, state }));
}

/** After a form the browser must go on with GET, whatever it sent. */
function seeOther(ctx: Context, address: string): void {
  ctx.redirect(address);
  ctx.status = 303;
}
