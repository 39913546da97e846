import type { Middleware } from 'koa';
import { asError } from '../../../shared/coded-error.ts';
import { randomToken } from '../../../shared/crypto/ids.ts';
import { fieldsOf } from '../../../shared/parse-json.ts';
import { languageOfHeader } from '../../../shared/text/texts.ts';
import type { Log } from '../../../shared/log.ts';
import type { ChatApps } from './chat-apps.ts';
import { ERROR_TEXTS } from '../pages/error-texts.ts';
import { errorPage } from '../pages/error-page.ts';
import { pageHeaders } from '../pages/headers.ts';
import { PageError } from '../pages/page-error.ts';

interface ErrorAnswerOptions {
  apps: Pick<ChatApps, 'backTo'>;
  helpUrl?: string;
  log: Log;
}

/** Maps any thrown value to its error page. Only a random reference connects the page with the log. */
export function answerErrors({ apps, helpUrl, log }: ErrorAnswerOptions): Middleware {
  return async (context, next) => {
    try {
      await next();
    } catch (thrown) {
      const error = pageErrorOf(thrown);
      const reference = randomToken(6);
      const level = error.code === 'sign-in-unavailable' ? 'error' : 'info';
      const cause = error === thrown ? undefined : asError(thrown);
      log[level]({ page: error.code, reference, error: cause }, 'a sign-in was refused');
      const usual = ERROR_TEXTS[error.code];
      const { status = usual.status, retryAfterSec = usual.retryAfterSec } = error.details;
      const back = apps.backTo(context.get('User-Agent'));
      context.set(pageHeaders({ back }));
      if (retryAfterSec !== undefined) context.set('Retry-After', String(retryAfterSec));
      context.status = status;
      context.type = 'text/html';
      const language = languageOfHeader(context.headers['accept-language']);
      const { again } = error.details;
      const view = { language, error: error.code, reference, back, helpUrl, again };
      context.body = errorPage(view).text;
    }
  };
}

/** A body that is not a form counts as an expired form. Everything else is an internal error. */
export function pageErrorOf(thrown: unknown): PageError {
  if (thrown instanceof PageError) return thrown;
  const status = Number(fieldsOf(thrown)['status']);
  return new PageError(status >= 400 && status < 500 ? 'page-expired' : 'sign-in-unavailable');
}
