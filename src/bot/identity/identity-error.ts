import { CodedError } from '../../shared/coded-error.ts';

/**
 * - `store_away`: Redis did not answer in time; assume that nothing changed.
 * - `service_timeout`, `service_unreachable`: the sign-in service did not respond.
 * - `service_refused`: the service responded, but not with the expected result.
 * - `profile_unfit`: the profile is valid but not allowed (inactive, of another client, …).
 * - `profile_broken`: the profile cannot be parsed.
 * - `refresh_later`: no token is available now; the caller may retry.
 * - `sign_in_again`: no token is left; the user must sign in.
 * - `options_unsafe`: the options would allow sign-in without a proof.
 */
export type IdentityErrorCode =
  | 'store_away'
  | 'service_timeout'
  | 'service_unreachable'
  | 'service_refused'
  | 'profile_unfit'
  | 'profile_broken'
  | 'refresh_later'
  | 'sign_in_again'
  | 'options_unsafe';

export class IdentityError extends CodedError<IdentityErrorCode> {}

/** Whether a thrown value is an identity error with one of these codes. */
export function isIdentityError(thrown: unknown, ...codes: IdentityErrorCode[]): thrown is IdentityError {
  return thrown instanceof IdentityError && codes.includes(thrown.code);
}
