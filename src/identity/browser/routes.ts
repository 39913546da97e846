import { readFileSync } from 'node:fs';
import Router from '@koa/router';
import type { Middleware } from 'koa';
import bodyParser from 'koa-bodyparser';
import type { BackToChat } from '../../platforms/platform.ts';
import type { PlatformName } from '../../domain/message.ts';
import { cancelSignIn, confirmSignIn, showConfirm } from './confirm-sign-in.ts';
import { browserRequest, send } from './browser-exchange.ts';
import { answerErrors } from './error-answers.ts';
import type { FailureLimit } from '../failure-limit.ts';
import type { BrowserRequest, PageOutcome, SignInFlow } from './flow.ts';
import { limitFailures, onPublicHost } from './page-guards.ts';
import { BACK_SCRIPT, BACK_SCRIPT_PATH } from '../pages/back-to-chat.ts';
import { STYLE_SHEET_PATH } from '../pages/layout.ts';
import { pageHeaders } from '../pages/headers.ts';
import { returnFromPlatform } from './return-from-platform.ts';
import { returnFromService } from './return-from-service.ts';
import { showLanding, startAgain, startSignIn } from './start-sign-in.ts';
import { showNewCode } from '../typed-code/show-code.ts';

const STYLE_SHEET = readFileSync(new URL('../pages/sign-in.css', import.meta.url), 'utf8');
const MAX_FORM = '8kb';

export interface RouteOptions {
  flow: SignInFlow;
  failures: FailureLimit;
  platformNames: readonly PlatformName[];
  /** Where the forms' answers may lead. */
  formOrigins(): readonly string[];
  trustedProxyHops: number;
  helpUrl?: string;
}

/** The sign-in's pages and callbacks. */
export function createRoutes(options: RouteOptions): Router {
  const { flow } = options;
  const headersOf = (back?: BackToChat) => pageHeaders(options.formOrigins(), back);
  const router = new Router();
  const form = bodyParser({ enableTypes: ['form'], formLimit: MAX_FORM });
  const guard = [answerErrors({ ...options, headersOf }), limitFailures(options), onPublicHost(options)];
  const step =
    (run: Step): Middleware =>
    async (context) => {
      const parameters = context.params as Readonly<Record<string, string | undefined>>;
      send(context, headersOf, await run(flow, browserRequest(context), parameters));
    };

  router.get(
    '/link/:ticket',
    ...guard,
    step((...[, request, { ticket }]) => showLanding(flow, request, ticket ?? '')),
  );
  router.post(
    '/link/:ticket/start',
    ...guard,
    form,
    step((...[, request, { ticket }]) => startSignIn(flow, request, ticket ?? '')),
  );
  router.post('/sign-in/again', ...guard, form, step(startAgain));
  router.get('/oauth/callback', ...guard, step(returnFromService));
  for (const name of options.platformNames) {
    router.get(
      `/oauth/platform/${name}/callback`,
      ...guard,
      step((...[, request]) => returnFromPlatform(flow, request, name)),
    );
  }
  router.get('/sign-in/confirm', ...guard, step(showConfirm));
  router.post('/sign-in/confirm', ...guard, form, step(confirmSignIn));
  router.post('/sign-in/new-code', ...guard, form, step(showNewCode));
  router.post('/sign-in/cancel', ...guard, form, step(cancelSignIn));
  router.get(STYLE_SHEET_PATH, asset('text/css', STYLE_SHEET));
  router.get(BACK_SCRIPT_PATH, asset('text/javascript', BACK_SCRIPT));
  return router;
}

function asset(type: string, text: string): Middleware {
  return (context) => {
    context.set({ 'Cache-Control': 'public, max-age=3600', 'X-Content-Type-Options': 'nosniff' });
    context.type = type;
    context.body = text;
  };
}

type Step = (
  flow: SignInFlow,
  request: BrowserRequest,
  parameters: Readonly<Record<string, string | undefined>>,
) => Promise<PageOutcome>;
