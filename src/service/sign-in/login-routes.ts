import type { Router } from '@koa/router';
import type { Context } from 'koa';
import { clientAddress } from '../../base/client-address.ts';
import type { ServiceClient } from '../clients-file.ts';
import type { ServicePerson } from '../directory-file.ts';
import { showLoginPage, type LoginPage } from '../pages/login-page.ts';
import { formTarget, readAuthorizeRequest } from './authorize-request.ts';
import { beginSession } from './begin-session.ts';
import { formField } from './forms.ts';
import { leaveFor } from './methods/method-routes.ts';
import { passwordFits } from './passwords.ts';
import { chooseSignInPath, readReturnTo, startSignInPath } from './return-to.ts';
import { readServiceAddress } from './service-address.ts';
import { appFor, type SignInParts } from './sign-in-parts.ts';

const MAX_TYPED_CHARS = 1_024;

/**
 * Lets the person sign in the way that fits where they are (SERVICE.md ways-to-sign-in): inside a messaging app by that app's identity, else
 * with the institution; where the directory has passwords too, the page offers both.
 */
export async function askToSignIn(ctx: Context, parts: SignInParts, returnTo: string): Promise<void> {
  const { institution, hasForm } = parts.methods;
  const method = appFor(ctx, parts) ?? (hasForm ? undefined : institution);
  if (method) await leaveFor(ctx, parts, { method, returnTo });
  else showLogin(ctx, parts, { returnTo });
}

/**
 * Where somebody signs in after a form of ours: a page that sends nobody off by itself. Chromium's form-action rule follows a
 * form's redirects, and nobody can list every host that an institution's sign-in passes.
 */
export function signInAgainPath(ctx: Context, parts: SignInParts, returnTo: string): string {
  return (appFor(ctx, parts) ?? parts.methods.institution) ? chooseSignInPath(returnTo) : returnTo;
}

/** The page where the way to sign in is chosen, and the login form. */
export function addLoginRoutes(router: Router, parts: SignInParts): void {
  router.get('/sign-in', (ctx) => showLogin(ctx, parts, { returnTo: readReturnTo(ctx), isAnew: true }));
  router.post('/oauth2.0/login', async (ctx) => {
    const { returnTo } = parts.forms.open(ctx, 'login');
    const username = (formField(ctx, 'username') ?? '').trim().slice(0, MAX_TYPED_CHARS);
    const password = (formField(ctx, 'password') ?? '').slice(0, MAX_TYPED_CHARS);
    const person = await checkLogin(ctx, parts, { username, password });
    if ('retryAfterSec' in person) {
      const isSlow = person.retryAfterSec !== undefined;
      if (isSlow) ctx.set('Retry-After', String(person.retryAfterSec));
      showLogin(ctx, parts, { returnTo, problem: isSlow ? 'slow' : 'wrong', username });
      return;
    }
    await beginSession(ctx, parts, { person, method: 'password' });
    ctx.redirect(returnTo);
    ctx.status = 303;
  });
}

async function checkLogin(
  ctx: Context,
  { directory, nobodysPassword, throttle, knownDevices, trustedProxyHops, report }: SignInParts,
  { username, password }: { username: string; password: string },
): Promise<ServicePerson | { retryAfterSec: number | undefined }> {
  const person = directory.byUsername(username);
  const address = clientAddress(ctx.req, trustedProxyHops);
  const tried = { username, address, deviceId: knownDevices.idFor(ctx, username) };
  const verdict = await throttle.attempt(tried, async () => {
    // Whoever did not wait for the answer costs nothing more; it counts as a wrong password.
    if (ctx.req.socket.destroyed) return false;
    return passwordFits(password, person?.password ?? nobodysPassword.of(username));
  });
  if (person && verdict.isRight) {
    knownDevices.remember(ctx, username);
    return person;
  }
  report.signInStep({ step: 'login-refused' });
  return { retryAfterSec: verdict.isRight ? undefined : verdict.retryAfterSec };
}

interface Login extends Pick<LoginPage, 'problem' | 'username'> {
  returnTo: string;
  /** Whoever is signed in elsewhere does not count. */
  isAnew?: boolean;
}

function showLogin(ctx: Context, parts: SignInParts, { returnTo, isAnew = false, ...typed }: Login): void {
  const { forms, clients, methods } = parts;
  const asking = askingClient(returnTo, clients);
  const app = appFor(ctx, parts);
  const way = app ?? methods.institution;
  showLoginPage(ctx, {
    clientName: asking?.client.name,
    isConsentNext: asking?.isConsentNext === true,
    way: way && {
      path: startSignInPath(way.name, returnTo, isAnew),
      name: app ? undefined : methods.institutionName,
    },
    csrf: app || !methods.hasForm ? undefined : forms.seal(ctx, { kind: 'login', returnTo }),
    // A remembered consent leads from this form straight to the client, so its origin is listed here already.
    formTargets: asking ? [asking.target] : [],
    ...typed,
  });
}

/** The client on whose behalf somebody signs in; undefined on the way to our account page. */
function askingClient(
  returnTo: string,
  clients: ReadonlyMap<string, ServiceClient>,
): { client: ServiceClient; target: string; isConsentNext: boolean } | undefined {
  const path = returnTo.split('?', 1)[0];
  const query = returnTo.slice((path ?? '').length + 1);
  if (path === '/sign-in/return') {
    const service = readServiceAddress(query, clients);
    return service && { client: service.client, target: formTarget(service.address), isConsentNext: false };
  }
  if (path !== '/oauth2.0/authorize') return undefined;
  const reading = readAuthorizeRequest(query, clients);
  if (!('request' in reading)) return undefined;
  const client = clients.get(reading.request.clientId);
  return client && { client, target: formTarget(reading.request.redirectUri), isConsentNext: true };
}
