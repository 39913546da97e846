import type { Router } from '@koa/router';
import type { Middleware } from 'koa';
import { HOUR_MS, SECOND_MS, type NowMs } from '../../shared/clock.ts';
import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import type { RedisClient } from '../../shared/redis/redis.ts';
import { PAGE_TEXTS } from '../pages/service-page-texts.ts';
import type { ServiceReport } from '../service-report.ts';
import type { ServiceSignIn, ServedFiles } from '../service-options.ts';
import { addAccountRoutes } from './account-routes.ts';
import { addAuthorizeRoutes, type AuthorizeRouteParts } from './authorize-routes.ts';
import { createCheckLogin, type CheckLogin } from './check-login.ts';
import { Consents } from './consents.ts';
import { Directory } from './directory.ts';
import { Forms, formField } from './forms.ts';
import { Grants } from './grants.ts';
import { KnownDevices } from './known-devices.ts';
import { LoginThrottle } from './login-throttle.ts';
import { createLogin } from './login.ts';
import { createRedirectToProvider } from './methods/redirect-to-provider.ts';
import { addMethodRoutes } from './methods/method-routes.ts';
import { RoundTrips } from './methods/round-trips.ts';
import { SignInMethods } from './methods/sign-in-methods.ts';
import { TimingDummyHash } from './timing-dummy-hash.ts';
import { People } from './people.ts';
import { SESSION_LIFE_MS, Sessions } from './sessions.ts';
import { Store } from './store.ts';
import { tokenRoutes } from './token-routes.ts';
import { BrowserSessions } from './browser-sessions.ts';
import { readReturnTo, chooseSignInPath } from './return-to.ts';
import { showSignedOutPage } from '../pages/plain-pages.ts';
import { afterSignInPath, readServiceAddress } from './service-address.ts';
import { PageError } from './sign-in-errors.ts';

const MAX_TYPED_CHARS = 1_024;

/** The page for choosing a sign-in method, and the target of its login form. */
function addLoginRoutes(router: Router, { login, forms, visitors }: AuthorizeRouteParts, checkLogin: CheckLogin): void {
  router.get('/sign-in', (ctx) => login.show(ctx, { returnTo: readReturnTo(ctx), forcesLogin: true }));
  router.post('/oauth2.0/login', async (ctx) => {
    const { returnTo } = forms.open(ctx, 'login');
    const username = (formField(ctx, 'username') ?? '').trim().slice(0, MAX_TYPED_CHARS);
    const password = (formField(ctx, 'password') ?? '').slice(0, MAX_TYPED_CHARS);
    const person = await checkLogin(ctx, { username, password });
    if ('retryAfterSec' in person) {
      const isSlow = person.retryAfterSec !== undefined;
      if (isSlow) ctx.set('Retry-After', String(person.retryAfterSec));
      login.show(ctx, { returnTo, problem: isSlow ? 'slow' : 'wrong', username });
      return;
    }
    await visitors.begin(ctx, { person, method: 'password' });
    ctx.redirect(returnTo);
    ctx.status = 303;
  });
}

export interface SignInOptions {
  files: Pick<ServedFiles, 'clients' | 'directory' | 'institution'>;
  signIn: ServiceSignIn;
  redis: RedisClient;
  keyRing: KeyRing;
  /** Public URL for browsers, without a trailing slash. */
  publicUrl: string;
  trustedProxyHops: number;
  nowMs: NowMs;
  report: ServiceReport;
}

/** The routes of the sign-in, for browsers and for applications. */
export interface SignIn {
  addBrowserRoutes(router: Router): void;
  tokenRoutes: Middleware;
}

export function createSignIn(options: SignInOptions): SignIn {
  const { files, signIn, redis, keyRing, publicUrl, trustedProxyHops, nowMs, report } = options;
  const { accessTokenSec, refreshTokenSec } = signIn;
  const store = new Store(redis, keyRing);
  const directory = new Directory(files.directory);
  const clients = new Map(files.clients.map((client) => [client.clientId, client]));
  const origin = files.institution?.signIn.origin;
  // A session may yield a code in its last moment, and that code's refresh token an access token in its last moment.
  const keptMs = SESSION_LIFE_MS + (refreshTokenSec + accessTokenSec) * SECOND_MS + HOUR_MS;
  const people = new People({ directory, store, keyRing, origin, keptMs });
  const isKnown = async (username: string) => (await people.byUsername(username)) !== undefined;
  const grants = new Grants({ store, accessTokenSec, refreshTokenSec, isKnown, nowMs });
  const methods = createMethods(options, store, directory);
  const visitors = new BrowserSessions({ sessions: new Sessions(store), methods, people, report });
  const forms = new Forms(keyRing, nowMs, { publicUrl, trustedProxyHops });
  const roundTrips = new RoundTrips(store, nowMs);
  const leaveFor = createRedirectToProvider(roundTrips, publicUrl);
  const login = createLogin({ clients, methods, visitors, forms, leaveFor });
  const consents = new Consents(store, nowMs);
  const checkLogin = createCheckLogin({
    directory,
    nobodysPassword: new TimingDummyHash(files.directory, keyRing.deriveKey('service-nobodys-password')),
    throttle: new LoginThrottle(store, signIn.loginLimits),
    knownDevices: new KnownDevices(keyRing, nowMs),
    trustedProxyHops,
    report,
  });
  const parts = { clients, visitors, login, consents, forms, grants, report };
  return {
    addBrowserRoutes(router) {
      addAuthorizeRoutes(router, parts);
      addLoginRoutes(router, parts, checkLogin);
      // Before the sign-in methods, whose paths look similar.
      addLogoutRoutes(router, parts);
      addMethodRoutes(router, { methods, leaveFor, roundTrips, publicUrl, people, directory, visitors });
      addAccountRoutes(router, parts);
    },
    tokenRoutes: tokenRoutes({ clients, people, grants, accessTokenSec, publicUrl, report }),
  };
}

function createMethods(
  { files: { institution }, signIn }: Pick<SignInOptions, 'files' | 'signIn'>,
  store: Store,
  directory: Directory,
): SignInMethods {
  const name = institution?.name;
  return new SignInMethods({
    messagingApps: (signIn.messagingApps ?? []).map((make) => make(store)),
    institution: institution?.signIn,
    institutionName: name === undefined ? PAGE_TEXTS.institutionSignIn : { en: name, zh: name },
    knowsUsersOf: (app) => directory.knowsUsersOf(app),
    hasPasswords: !directory.isEmpty,
  });
}

/** `/logout`, and `/sign-in/return`, which redirects to the address given at sign-out, but only after the next sign-in. */
function addLogoutRoutes(router: Router, { clients, visitors, login, report }: AuthorizeRouteParts): void {
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
    if (!(await visitors.currentPerson(ctx))) return login.ask(ctx, afterSignInPath(service));
    return ctx.redirect(service.address);
  });
}
