import { CodedError } from '../../shared/coded-error.ts';

/**
 * - `store_away`: Redis did not answer in time; nothing is known to have changed.
 * - `service_timeout`, `service_unreachable`: the sign-in service gave no answer.
 * - `service_refused`: it answered, but not with what was asked for.
 * - `profile_unfit`: the profile is readable and may not be used (inactive, of another client, …).
 * - `profile_broken`: the profile cannot be read.
 * - `refresh_later`: no token now; the caller may try again.
 * - `sign_in_again`: no token any more; the person has to sign in.
 * - `options_unsafe`: the options would run sign-in without a proof.
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

/** Whether a thrown value is an identity error of one of these codes. */
export function isIdentityError(thrown: unknown, ...codes: IdentityErrorCode[]): thrown is IdentityError {
  return thrown instanceof IdentityError && codes.includes(thrown.code);
}
