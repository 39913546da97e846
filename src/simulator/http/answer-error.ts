import type { Middleware } from 'koa';
import { asError } from '../../shared/coded-error.ts';
import type { Log } from '../../shared/log.ts';
import { MessengerError, type MessengerErrorCode } from '../messenger-error.ts';

const STATUS: Readonly<Record<MessengerErrorCode, number>> = {
  not_found: 404,
  bad_request: 400,
  foreign_origin: 403,
  not_owner: 403,
  image_too_large: 413,
  image_unknown_type: 415,
  file_too_large: 413,
  not_taken: 502,
  not_delivered: 502,
  no_answer: 504,
  too_soon: 429,
  crypto_broken: 500,
};

/** Returns errors as `{ error: { code, message } }`. Unexpected errors are logged, without details for the page. */
export function answerErrors(log: Log): Middleware {
  return async (context, next) => {
    try {
      await next();
    } catch (thrown) {
      const error = asError(thrown);
      const status = statusOf(error);
      if (status === 500) log.error({ error, path: context.path }, 'the messenger could not answer a request');
      context.status = status;
      const code = error instanceof MessengerError ? error.code : status === 500 ? 'internal' : 'bad_request';
      context.body = { error: { code, message: status === 500 ? 'Something went wrong' : error.message } };
    }
  };
}

function statusOf(error: Error): number {
  if (error instanceof MessengerError) return STATUS[error.code];
  // Errors of Koa and the body parser (unparsable JSON, too large) include their status.
  const status = 'status' in error ? Number(error.status) : 500;
  return status >= 400 && status < 500 ? status : 500;
}
