import type { Context } from 'koa';
import { chooseSignInPath } from '../return-to.ts';
import { PageError, type PageErrorCode } from '../sign-in-errors.ts';
import type { AnySignIn } from './redirect-sign-in.ts';
import type { RoundTrips } from './round-trips.ts';

/**
 * Errors after which the same person would only fail again: the button leads to the choice of methods, where another person
 * can sign in.
 */
const ANOTHER_PERSON: readonly PageErrorCode[] = ['sign_in_declined', 'profile_unusable', 'inactive_person'];

/** Redirects the browser to sign in elsewhere. @throws PageError, StoreError */
export type RedirectToProvider = (
  ctx: Context,
  where: { method: AnySignIn; returnTo: string; forcesLogin?: boolean },
) => Promise<void>;

/** @param publicUrl public URL for browsers, without a trailing slash */
export function createRedirectToProvider(roundTrips: RoundTrips, publicUrl: string): RedirectToProvider {
  return async (ctx, { method, returnTo, forcesLogin = false }) => {
    const state = roundTrips.newState();
    const { location, kept } = await withRetryLink(returnTo, () =>
      method.startRedirect({ callbackUrl: callbackOf(publicUrl, method), state, forcesLogin }),
    );
    roundTrips.begin(ctx, state, { method: method.name, returnTo, kept });
    ctx.redirect(location);
  };
}

export function callbackOf(publicUrl: string, { name }: AnySignIn): string {
  return `${publicUrl}/sign-in/${name}/callback`;
}

/** Adds the button that leads on to an error page. */
export async function withRetryLink<Result>(returnTo: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof PageError)) throw error;
    const isAnother = ANOTHER_PERSON.includes(error.code);
    throw new PageError(error.code, error.message, {
      tryAgainPath: isAnother ? chooseSignInPath(returnTo) : returnTo,
      cause: error.cause,
    });
  }
}
