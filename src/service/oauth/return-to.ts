import { definedOnly } from '../../shared/defined-only.ts';
import type { Context } from 'koa';
import { PageError } from './sign-in-errors.ts';

/** Our own paths that lead to the sign-in. */
const PLACE = /^\/(?:account$|oauth2\.0\/authorize\?|sign-in\/return\?)/;

/**
 * The path to continue at after the sign-in, from a query parameter. Only three of our own paths are accepted, so that a
 * crafted address cannot redirect elsewhere.
 * @throws PageError `bad_request`
 */
export function readReturnTo(ctx: Context): string {
  const { return_to: returnTo } = ctx.query;
  if (typeof returnTo !== 'string' || !PLACE.test(returnTo))
    throw new PageError('bad_request', 'return_to is missing or leads to another host');
  return returnTo;
}

/** The page for choosing a sign-in method, which never redirects automatically. */
export function chooseSignInPath(returnTo: string): string {
  return `/sign-in?${new URLSearchParams({ return_to: returnTo }).toString()}`;
}

/** Target of the button for one method. @param forcesLogin an existing session at the provider does not count */
export function startSignInPath(method: string, returnTo: string, forcesLogin: boolean): string {
  const query = new URLSearchParams(definedOnly({ return_to: returnTo, prompt: forcesLogin ? 'login' : undefined }));
  return `/sign-in/${method}?${query.toString()}`;
}
