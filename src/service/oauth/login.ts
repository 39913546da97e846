import type { Context } from 'koa';
import type { ServiceClient } from '../clients-file.ts';
import { showLoginPage, type LoginPage } from '../pages/login-page.ts';
import { formTarget, readAuthorizeRequest } from './authorize-request.ts';
import type { Forms } from './forms.ts';
import type { RedirectToProvider } from './methods/redirect-to-provider.ts';
import type { SignInMethods } from './methods/sign-in-methods.ts';
import { chooseSignInPath, startSignInPath } from './return-to.ts';
import { readServiceAddress } from './service-address.ts';
import type { BrowserSessions } from './browser-sessions.ts';

export interface LoginView extends Pick<LoginPage, 'problem' | 'username'> {
  returnTo: string;
  /** Requires a new sign-in, even if a person is signed in at the other side. */
  forcesLogin?: boolean;
}

/** Asks people to sign in. */
export interface Login {
  /**
   * Starts the appropriate sign-in (SERVICE.md ways-to-sign-in): inside a messaging app that app's sign-in, otherwise the
   * institution's. If the directory has passwords too, the page offers both. @throws PageError, StoreError
   */
  ask(ctx: Context, returnTo: string): Promise<void>;
  /** The page for choosing a sign-in method, with the login form. */
  show(ctx: Context, view: LoginView): void;
  /**
   * Where to sign in after one of our forms: a page without automatic redirect. Chromium applies the form-action rule to a
   * form's redirects, and the hosts in an institution's sign-in cannot all be listed.
   */
  againPath(ctx: Context, returnTo: string): string;
}

export interface LoginParts {
  clients: ReadonlyMap<string, ServiceClient>;
  methods: SignInMethods;
  visitors: Pick<BrowserSessions, 'appFor'>;
  forms: Forms;
  leaveFor: RedirectToProvider;
}

export function createLogin({ clients, methods, visitors, forms, leaveFor }: LoginParts): Login {
  const show: Login['show'] = (ctx, { returnTo, forcesLogin = false, ...typed }) => {
    const asking = askingClient(returnTo, clients);
    const app = visitors.appFor(ctx);
    const way = app ?? methods.institution;
    showLoginPage(ctx, {
      clientName: asking?.client.name,
      isConsentNext: asking?.isConsentNext === true,
      way: way && {
        path: startSignInPath(way.name, returnTo, forcesLogin),
        name: app ? undefined : methods.institutionName,
      },
      csrf: app || !methods.hasForm ? undefined : forms.seal(ctx, { kind: 'login', returnTo }),
      // A remembered consent redirects from this form directly to the client, so its origin must be listed.
      formTargets: asking ? [asking.target] : [],
      ...typed,
    });
  };
  return {
    show,
    async ask(ctx, returnTo) {
      const method = visitors.appFor(ctx) ?? (methods.hasForm ? undefined : methods.institution);
      if (method) await leaveFor(ctx, { method, returnTo });
      else show(ctx, { returnTo });
    },
    againPath: (ctx, returnTo) =>
      (visitors.appFor(ctx) ?? methods.institution) ? chooseSignInPath(returnTo) : returnTo,
  };
}

/** The client that requested the sign-in; undefined for our account page. */
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
