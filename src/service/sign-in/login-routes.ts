import type { Router } from '@koa/router';
import type { Context } from 'koa';
import type { ServiceClient } from '../clients-file.ts';
import type { ServicePerson } from '../directory-file.ts';
import { showLoginPage, type LoginPage } from '../pages/login-page.ts';
import { formTarget, readAuthorizeRequest } from './authorize-request.ts';
import { beginSession } from './begin-session.ts';
import { formField } from './forms.ts';
import { passwordFits } from './passwords.ts';
import { wecomFor, type SignInParts } from './sign-in-parts.ts';
import { goToWecom } from './wecom-routes.ts';

/** Compared when the name is unknown, so that the time taken does not tell which names exist. It fits no password. */
const NOBODYS_PASSWORD = `$scrypt$ln=14,r=8,p=1$${'A'.repeat(22)}$${'A'.repeat(43)}`;
const MAX_TYPED_CHARS = 1_024;

/** Lets the person sign in the way that fits where they are: WeCom's own identity inside WeCom, else the form. */
export async function askToSignIn(ctx: Context, parts: SignInParts, returnTo: string): Promise<void> {
  const wecom = wecomFor(ctx, parts);
  if (wecom) await goToWecom(ctx, parts, { wecom, returnTo });
  else showLogin(ctx, parts, { returnTo });
}

/** Takes the login form. */
export function addLoginRoutes(router: Router, parts: SignInParts): void {
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
  { directory, throttle, report }: SignInParts,
  { username, password }: { username: string; password: string },
): Promise<ServicePerson | { retryAfterSec: number | undefined }> {
  const person = directory.byUsername(username);
  const verdict = await throttle.attempt({ username, address: ctx.ip }, () =>
    passwordFits(password, person?.password ?? NOBODYS_PASSWORD),
  );
  if (person && verdict.isRight) return person;
  report.signInStep({ step: 'login-refused' });
  return { retryAfterSec: verdict.isRight ? undefined : verdict.retryAfterSec };
}

interface Login extends Pick<LoginPage, 'problem' | 'username'> {
  returnTo: string;
}

function showLogin(ctx: Context, { forms, clients }: SignInParts, { returnTo, ...typed }: Login): void {
  const csrf = forms.seal(ctx, { kind: 'login', returnTo });
  const asking = askingClient(returnTo, clients);
  // A remembered consent leads from this form straight to the client, so its origin is listed here already.
  showLoginPage(ctx, { csrf, clientName: asking?.client.name, formTargets: asking ? [asking.target] : [], ...typed });
}

/** The client on whose behalf somebody signs in; undefined on the way to our account page. */
function askingClient(
  returnTo: string,
  clients: ReadonlyMap<string, ServiceClient>,
): { client: ServiceClient; target: string } | undefined {
  const path = returnTo.split('?', 1)[0];
  const query = returnTo.slice((path ?? '').length + 1);
  if (path !== '/oauth2.0/authorize') return undefined;
  const reading = readAuthorizeRequest(query, clients);
  const client = 'request' in reading ? clients.get(reading.request.clientId) : undefined;
  return client && 'request' in reading ? { client, target: formTarget(reading.request.redirectUri) } : undefined;
}
