import type { Context } from 'koa';
import { chooseSignInPath } from '../return-to.ts';
import { PageError, type PageErrorCode } from '../sign-in-errors.ts';
import type { AnySignIn } from './redirect-sign-in.ts';
import type { RoundTrips } from './round-trips.ts';

/** After these the same person would only fail again: the button leads to the choice, where somebody else can sign in. */
const ANOTHER_PERSON: readonly PageErrorCode[] = ['sign_in_declined', 'profile_unusable', 'inactive_person'];

/** Sends the browser off to sign in elsewhere. @throws PageError, StoreError */
export type LeaveFor = (
  ctx: Context,
  where: { method: AnySignIn; returnTo: string; isAnew?: boolean },
) => Promise<void>;

/** @param publicUrl how browsers reach us, without a slash at the end */
export function createLeaveFor(roundTrips: RoundTrips, publicUrl: string): LeaveFor {
  return async (ctx, { method, returnTo, isAnew = false }) => {
    const state = roundTrips.newState();
    const { location, kept } = await withWayOn(returnTo, () =>
      method.leave({ callbackUrl: callbackOf(publicUrl, method), state, isAnew }),
    );
    roundTrips.begin(ctx, state, { method: method.name, returnTo, kept });
    ctx.redirect(location);
  };
}

export function callbackOf(publicUrl: string, { name }: AnySignIn): string {
  return `${publicUrl}/sign-in/${name}/callback`;
}

/** Gives a failure the button that leads on. */
export async function withWayOn<Result>(returnTo: string, work: () => Promise<Result>): Promise<Result> {
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
