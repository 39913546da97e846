import { CodedError } from '../../shared/coded-error.ts';

/**
 * Why a call to a messaging app failed.
 * `unreachable`: no answer, or none that could be read; it may work later. `unsent`: nothing left this process. `refused`: the platform said no (`platformCode`).
 * `unauthorised`: it takes no calls until the operator mends the app. `not_configured`: the settings lack what the call needs. `bad_setting`: a setting has no usable form.
 * `not_a_member`: the web sign-in ended with somebody from outside. `code_refused`: the sign-in's code is used or too old.
 * `media_refused`: the reference lies on a host that is not the platform's. `media_elsewhere`: the platform
 * only refers to a file that is stored outside it. `media_too_large`, `media_gone`,
 * `media_unreadable`: what the download came to. `undecryptable`: the one answer to every fault of an encrypted text.
 */
export type PlatformErrorCode =
  | 'unreachable'
  | 'unsent'
  | 'refused'
  | 'unauthorised'
  | 'not_configured'
  | 'bad_setting'
  | 'not_a_member'
  | 'code_refused'
  | 'media_refused'
  | 'media_elsewhere'
  | 'media_too_large'
  | 'media_gone'
  | 'media_unreadable'
  | 'undecryptable';

/** Thrown by a platform's outgoing calls. The message names host and path, never a query, a body or a token (SECURITY.md secrets-stay-inside). */
export class PlatformError extends CodedError<PlatformErrorCode> {
  /** The platform's own number for what went wrong, where it gave one. */
  readonly platformCode: number | undefined;

  constructor(code: PlatformErrorCode, message: string, platformCode?: number) {
    super(code, message);
    this.platformCode = platformCode;
  }
}
