import { definedOnly } from '../../shared/defined-only.ts';
import type { Context } from 'koa';
import { PageError } from './sign-in-errors.ts';

/** The places of ours from which people are sent to sign in. */
const PLACE = /^\/(?:account$|oauth2\.0\/authorize\?|sign-in\/return\?)/;

/**
 * Where somebody goes on after the sign-in, as a query parameter says it: one of three places of ours, so that no address
 * that somebody makes up leads elsewhere.
 * @throws PageError `bad_request`
 */
export function readReturnTo(ctx: Context): string {
  const { return_to: returnTo } = ctx.query;
  if (typeof returnTo !== 'string' || !PLACE.test(returnTo))
    throw new PageError('bad_request', 'return_to is missing or no place of ours');
  return returnTo;
}

/** The page where the way to sign in is chosen, which never sends anybody off by itself. */
export function chooseSignInPath(returnTo: string): string {
  return `/sign-in?${new URLSearchParams({ return_to: returnTo }).toString()}`;
}

/** What the button of one way leads to. @param isAnew whoever is signed in there does not count */
export function startSignInPath(method: string, returnTo: string, isAnew: boolean): string {
  const query = new URLSearchParams(definedOnly({ return_to: returnTo, anew: isAnew ? 'yes' : undefined }));
  return `/sign-in/${method}?${query.toString()}`;
}
