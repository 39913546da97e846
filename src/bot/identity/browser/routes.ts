import Router from '@koa/router';
import type { Middleware } from 'koa';
import bodyParser from 'koa-bodyparser';
import type { PlatformName } from '../../domain/platform-name.ts';
import type { Log } from '../../../shared/log.ts';
import { asset, signInStyleSheet } from './assets.ts';
import { browserRequest, send } from './browser-exchange.ts';
import { answerErrors } from './error-answers.ts';
import type { FailureLimit } from '../failure-limit.ts';
import type { ChatApps } from './chat-apps.ts';
import { PageError } from '../pages/page-error.ts';
import { limitFailures, onPublicHost } from './page-guards.ts';
import { BACK_SCRIPT, BACK_SCRIPT_PATH } from '../pages/back-to-chat.ts';
import { STYLE_SHEET_PATH } from '../pages/layout.ts';
import { CODE_SCRIPT, CODE_SCRIPT_PATH, CODE_TYPED_PATH } from '../pages/code-script.ts';
import type { SignInSteps } from '../sign-in-flow.ts';
import type { AwaitTyped } from '../typed-code/await-typed.ts';
import type { BrowserRequest, PageOutcome, Step } from './step.ts';

const MAX_FORM = '8kb';
const BUSY_RETRY_SEC = 15;

export interface RouteOptions {
  steps: SignInSteps;
  /** `https://HOST[:PORT]`, without a path. */
  publicOrigin: string;
  apps: Pick<ChatApps, 'backTo'>;
  failures: FailureLimit;
  platformNames: readonly PlatformName[];
  trustedProxyHops: number;
  helpUrl?: string;
  log: Log;
}

/** The pages and callbacks of the sign-in. */
export function createRoutes(options: RouteOptions): Router {
  const { steps, failures, publicOrigin, trustedProxyHops } = options;
  const router = new Router();
  const form = bodyParser({ enableTypes: ['form'], formLimit: MAX_FORM });
  const { apps, helpUrl, log } = options;
  const guard = [
    answerErrors({ apps, helpUrl, log }),
    limitFailures(failures, trustedProxyHops),
    onPublicHost(publicOrigin, trustedProxyHops),
  ];
  const step =
    (run: StepWithParameters): Middleware =>
    async (context) => {
      const parameters = context.params as Readonly<Record<string, string | undefined>>;
      send(context, await run(browserRequest(context), parameters));
    };

  router.get(
    '/link/:ticket',
    ...guard,
    step((request, { ticket }) => steps.showLanding(request, ticket ?? '')),
  );
  router.post(
    '/link/:ticket/start',
    ...guard,
    form,
    step((request, { ticket }) => steps.startSignIn(request, ticket ?? '')),
  );
  router.post('/sign-in/again', ...guard, form, step(steps.startAgain));
  const callback = (path: string, run: Step) => {
    router.get(path, ...guard, ignoreHead, step(run));
    // A form from another site arrives without the cookie, so no sign-in can be found (SECURITY.md other-browser).
    router.post(path, ...guard, refuseForm);
  };
  const refuseForm: Middleware = () => {
    log.warn('a sign-in returned by POST: set response_mode=query at the provider so that it returns by a redirect');
    throw new PageError('sign-in-broken-off');
  };
  callback('/oauth/callback', steps.returnFromService);
  for (const name of options.platformNames) {
    callback(`/oauth/platform/${name}/callback`, (request) => steps.returnFromPlatform(request, name));
  }
  router.get('/sign-in/confirm', ...guard, step(steps.showConfirm));
  router.post('/sign-in/confirm', ...guard, form, step(steps.confirmSignIn));
  router.post('/sign-in/new-code', ...guard, form, step(steps.showNewCode));
  router.get(CODE_TYPED_PATH, ...guard, ignoreHead, awaitTyped(steps.awaitTyped));
  router.post('/sign-in/cancel', ...guard, form, step(steps.cancelSignIn));
  router.get(STYLE_SHEET_PATH, signInStyleSheet);
  router.get(CODE_SCRIPT_PATH, asset('text/javascript', CODE_SCRIPT));
  router.get(BACK_SCRIPT_PATH, asset('text/javascript', BACK_SCRIPT));
  return router;
}

/** Scanners and prefetchers that send HEAD to a callback must not use up its code. */
const ignoreHead: Middleware = (context, next) => {
  if (context.method !== 'HEAD') return next();
  context.status = 200;
  return Promise.resolve();
};

/** 200 if the page has a successor, 204 if the browser is to ask again: after `Retry-After` if too many wait. */
function awaitTyped(wait: AwaitTyped): Middleware {
  return async (context) => {
    const left = new AbortController();
    context.res.once('close', () => left.abort());
    const outcome = await wait(browserRequest(context).cookie, left.signal);
    context.set('Cache-Control', 'no-store');
    if (outcome === 'busy') context.set('Retry-After', String(BUSY_RETRY_SEC));
    context.status = outcome === 'over' ? 200 : 204;
    context.body = outcome === 'over' ? '' : null;
  };
}

type StepWithParameters = (
  request: BrowserRequest,
  parameters: Readonly<Record<string, string | undefined>>,
) => Promise<PageOutcome>;
