import Router from '@koa/router';
import type { Context, Middleware } from 'koa';
import bodyParser from 'koa-bodyparser';
import { asError } from '../../shared/coded-error.ts';
import { randomToken } from '../../shared/crypto/ids.ts';
import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import { clientAddress } from '../../shared/http/client-address.ts';
import type { Log } from '../../shared/log.ts';
import { styleSheet } from '../../shared/pages/style-sheet.ts';
import type { SafeHtml } from '../../shared/text/html.ts';
import type { Bilingual } from '../../shared/text/texts.ts';
import type { AccountReturn, AccountSignIn } from '../identity/browser/account-sign-in.ts';
import { asset, signInStyleSheet } from '../identity/browser/assets.ts';
import { pageErrorOf } from '../identity/browser/error-answers.ts';
import { onPublicHost } from '../identity/browser/page-guards.ts';
import type { FailureLimit } from '../identity/failure-limit.ts';
import { IdentityError, isIdentityError } from '../identity/identity-error.ts';
import { pageHeaders } from '../identity/pages/headers.ts';
import { STYLE_SHEET_PATH } from '../identity/pages/layout.ts';
import { leavingPage } from '../identity/pages/leaving-page.ts';
import { PageError } from '../identity/pages/page-error.ts';
import { readCookie, readDepartures, writeCookie, writeDepartures, type Departures } from './cookies.ts';
import { accountMark } from '../audit/append-entry.ts';
import { createHandlers, type HandlerParts } from './handlers.ts';
import { ADMIN_STYLE_PATH, framedPage } from './pages/layout.ts';
import { failurePage, returnPage, strangerPage, type AdminFailure } from './pages/sign-in-pages.ts';
import type { Sessions } from './sessions.ts';
import { createAdminForms, formOf, languageOf, type Reply, type Visit } from './visit.ts';

const STYLE_SHEET = styleSheet(new URL('./pages/admin.css', import.meta.url));
const MAX_FORM = '8kb';
const ALL_PAGES = /^\/admin(?:\/.*)?$/;

export interface AdminRouteOptions {
  handling: HandlerParts;
  signIn: AccountSignIn;
  sessions: Sessions;
  failures: FailureLimit;
  /** Name of the sign-in service. */
  service: Bilingual;
  adminIds: readonly string[];
  publicOrigin: string;
  /** Where else the page is opened: with the port of `ADMIN_PORT`. */
  ownOrigin: string | undefined;
  trustedProxyHops: number;
  keyRing: KeyRing;
  log: Log;
}

export interface AdminRoutes {
  /** The page, for the port of its own or the bot's. */
  pages: Router;
  /** Takes the callbacks of administrators; must come before the routes of the sign-in of chat accounts. */
  callback: Router;
}

/** The admin page (docs/design/admin-page.md). */
export function createAdminRoutes(options: AdminRouteOptions): AdminRoutes {
  const { handling, keyRing, publicOrigin, ownOrigin = publicOrigin, trustedProxyHops } = options;
  const flow = { ...options, forms: createAdminForms(keyRing, [publicOrigin, ownOrigin]) };
  const handlers = createHandlers(handling);
  const guard = [answerFailures(options), onPublicHost(publicOrigin, trustedProxyHops)];
  const form = bodyParser({ enableTypes: ['form'], formLimit: MAX_FORM });
  const pages = new Router();
  pages.get(ADMIN_STYLE_PATH, asset('text/css', STYLE_SHEET));
  // Of the page that leads to the sign-in service; `ADMIN_PORT` serves no other routes.
  pages.get(STYLE_SHEET_PATH, signInStyleSheet);
  pages.all(ALL_PAGES, ...guard, form, async (context) => {
    keepLanguage(context);
    const token = readCookie(context.headers.cookie, 'session');
    const account = token === undefined ? undefined : await options.sessions.accountOf(token);
    if (token === undefined || account === undefined) return meetStranger(flow, context, token !== undefined);
    const isPost = context.method === 'POST';
    // Another tab has signed in since the form was shown.
    if (isPost && context.path === '/admin/sign-in') return redirect(context, '/admin');
    if (isPost && !flow.forms.isOwn(context, token)) {
      await countFailure(flow, context);
      throw new PageError('page-expired');
    }
    if (isPost && context.path === '/admin/sign-out') return signOut(flow, context, { token, account });
    const handle = handlers.get(`${context.method === 'HEAD' ? 'GET' : context.method} ${context.path}`);
    const query = new URLSearchParams(context.querystring);
    const csrf = flow.forms.token(token);
    const visit: Visit = { language: languageOf(context), account, csrf, query, form: formOf(context) };
    return send(context, visit, handle ? await handle(visit) : { kind: 'missing' });
  });
  const callback = new Router();
  callback.get('/oauth/callback', (context, next) => {
    const departures = readDepartures(context.headers.cookie);
    return !departures || context.method === 'HEAD' ? next() : takeCallback(flow, context, departures, next);
  });
  return { pages, callback };
}

type Flow = AdminRouteOptions & { forms: ReturnType<typeof createAdminForms> };

/**
 * Everyone without a session of an administrator gets the same page at every address (SECURITY.md admin-gate).
 * @param isKnocking whether the browser presented a session that does not exist
 */
async function meetStranger(flow: Flow, context: Context, isKnocking: boolean): Promise<void> {
  if (isKnocking) await countFailure(flow, context);
  const shown = readDepartures(context.headers.cookie);
  if (context.method === 'POST') {
    await countFailure(flow, context);
    if (context.path === '/admin/sign-in' && shown && flow.forms.isOwn(context, shown.browser))
      return beginSignIn(flow, context, shown);
  }
  const departures = shown ?? { browser: randomToken(), begun: [] };
  const { service, forms } = flow;
  context.status = 403;
  context.set(pageHeaders({}));
  context.append('Vary', 'Cookie');
  context.append('Set-Cookie', writeDepartures(departures));
  context.type = 'text/html';
  context.body = strangerPage({ language: languageOf(context), service, csrf: forms.token(departures.browser) }).text;
}

async function beginSignIn(flow: Flow, context: Context, { browser, begun }: Departures): Promise<void> {
  const { origin = flow.publicOrigin } = context.headers;
  const { location, sealed } = await flow.signIn.begin(origin);
  context.append('Set-Cookie', writeDepartures({ browser, begun: [sealed, ...begun] }));
  sendThrough(context, leavingPage({ language: languageOf(context), to: location }));
}

/** Sends a page that continues by itself; its address may contain a code. */
function sendThrough(context: Context, page: SafeHtml): void {
  context.set({ ...pageHeaders({}), 'Referrer-Policy': 'no-referrer' });
  context.type = 'text/html';
  context.body = page.text;
}

/** A callback of another sign-in of this browser is passed on. */
async function takeCallback(
  flow: Flow,
  context: Context,
  departures: Departures,
  next: () => Promise<unknown>,
): Promise<void> {
  const { sessions, adminIds, keyRing, handling, publicOrigin, trustedProxyHops } = flow;
  const passed = { isOther: false };
  await answerFailures(flow)(context, async () => {
    await onPublicHost(publicOrigin, trustedProxyHops)(context, async () => {
      const returned = await finishSignIn(flow, context, departures);
      passed.isOther = returned.kind === 'other';
      if (returned.kind === 'other') return;
      if (returned.kind === 'signed-in') {
        const isAdmin = adminIds.includes(returned.accountId);
        const by = accountMark(keyRing, returned.accountId);
        // Before the record, which others could otherwise fill.
        if (!isAdmin) await countFailure(flow, context);
        await handling.recordAct({ act: 'sign-in', outcome: isAdmin ? 'done' : 'refused', by });
        if (isAdmin) context.append('Set-Cookie', writeCookie('session', await sessions.begin(returned.accountId)));
      }
      sendThrough(context, returnPage({ language: languageOf(context), to: `${returned.returnTo}/admin` }));
    });
  });
  if (passed.isOther) await next();
}

/** Finishes the sign-in, of those in progress, that the callback belongs to, and removes it from the cookie. */
async function finishSignIn(
  { signIn }: Flow,
  context: Context,
  { browser, begun }: Departures,
): Promise<AccountReturn> {
  for (const sealed of begun) {
    const cookie = writeDepartures({ browser, begun: begun.filter((other) => other !== sealed) });
    const returned = await signIn.finish(sealed, context.querystring).catch((thrown: unknown) => {
      context.append('Set-Cookie', cookie);
      throw thrown;
    });
    if (returned.kind === 'other') continue;
    context.append('Set-Cookie', cookie);
    return returned;
  }
  return { kind: 'other' };
}

async function signOut(flow: Flow, context: Context, { token, account }: { token: string; account: string }) {
  await flow.sessions.end(token);
  await flow.handling.recordAct({ act: 'sign-out', outcome: 'done', by: accountMark(flow.keyRing, account) });
  context.append('Set-Cookie', writeCookie('session', ''));
  redirect(context, '/admin');
}

function send(context: Context, visit: Visit, reply: Reply): void {
  context.set(pageHeaders({}));
  context.append('Vary', 'Cookie');
  if (reply.kind === 'redirect') return redirect(context, reply.to);
  if (reply.kind === 'csv') {
    context.type = 'text/csv; charset=utf-8';
    context.set('Content-Disposition', `attachment; filename="${reply.name}"`);
    context.body = reply.text;
    return;
  }
  context.type = 'text/html';
  if (reply.kind === 'missing') {
    const { page, status } = failurePage({ language: visit.language, failure: 'not-found', reference: randomToken(6) });
    context.body = page.text;
    context.status = status;
    return;
  }
  context.body = framedPage(visit, reply).text;
}

function redirect(context: Context, to: string): void {
  context.set('Cache-Control', 'no-store');
  context.set('Location', to);
  context.body = '';
  context.status = 303;
}

function keepLanguage(context: Context): void {
  const asked = context.query['lang'];
  if (asked === 'en' || asked === 'zh') context.append('Set-Cookie', writeCookie('language', asked));
}

/** @throws PageError too-many-tries above the limit of the sign-in pages */
async function countFailure({ failures, trustedProxyHops }: Flow, context: Context): Promise<void> {
  const waitMs = await failures.count(clientAddress(context.req, trustedProxyHops));
  if (waitMs !== undefined) throw new PageError('too-many-tries');
}

/** Maps any thrown value to a page. Only a random reference connects the page with the log. */
function answerFailures({ log }: Pick<AdminRouteOptions, 'log'>): Middleware {
  return async (context, next) => {
    try {
      await next();
    } catch (thrown) {
      const failure = failureOf(thrown);
      const reference = randomToken(6);
      const error = thrown instanceof PageError ? undefined : asError(thrown);
      log[failure === 'unavailable' ? 'error' : 'info'](
        { page: failure, reference, error },
        'a page of administrators failed',
      );
      const { page, status } = failurePage({ language: languageOf(context), failure, reference });
      context.set(pageHeaders({}));
      context.status = status;
      context.type = 'text/html';
      context.body = page.text;
    }
  };
}

function failureOf(thrown: unknown): AdminFailure {
  if (thrown instanceof PageError) return thrown.code === 'too-many-tries' ? 'too-many-tries' : 'page-expired';
  if (isIdentityError(thrown, 'store_away')) return 'unavailable';
  if (thrown instanceof IdentityError) return 'service-failed';
  return pageErrorOf(thrown).code === 'page-expired' ? 'page-expired' : 'unavailable';
}
