import { CodedError } from '../../shared/coded-error.ts';

/**
 * Why a call to a messaging platform failed. `unreachable`: no answer, or an unreadable one; a retry may succeed. `unsent`:
 * nothing left this process. `refused`: the platform refused the call (`platformCode`). `unauthorised`: it refuses all calls
 * until the operator repairs the app. `not_configured`: a setting that the call needs is missing. `bad_setting`: a setting
 * is malformed. `not_a_member`: an outsider completed the web sign-in. `code_refused`: the sign-in code is used or expired.
 * `media_refused`: the reference is on a host that is not the platform's. `media_elsewhere`: the file is stored outside the
 * platform. `media_too_large`, `media_gone`, `media_unreadable`: result of the download. `undecryptable`: the only error for
 * any fault of an encrypted text.
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

/**
 * Thrown by a platform's outgoing calls. The message contains host and path, never a query, a body or a token
 * (SECURITY.md secrets-stay-inside).
 */
export class PlatformError extends CodedError<PlatformErrorCode> {
  /** The platform's own error number, if it gave one. */
  readonly platformCode: number | undefined;

  constructor(code: PlatformErrorCode, message: string, platformCode?: number) {
    super(code, message);
    this.platformCode = platformCode;
  }
}

/** The error of a download that ended with a status other than 200. */
export function downloadError(status: number): PlatformError {
  const isTransient = status >= 500 || status === 408 || status === 429;
  return new PlatformError(
    isTransient ? 'unreachable' : 'media_gone',
    `A file could not be downloaded (HTTP ${status})`,
  );
}
