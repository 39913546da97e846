import { CodedError } from '../../shared/coded-error.ts';

export type OAuthErrorCode =
  | 'invalid_request'
  | 'invalid_client'
  | 'invalid_grant'
  | 'unsupported_grant_type'
  | 'invalid_scope'
  | 'invalid_token'
  | 'temporarily_unavailable'
  | 'server_error';

const OAUTH_STATUS: Partial<Record<OAuthErrorCode, number>> = {
  invalid_client: 401,
  invalid_token: 401,
  temporarily_unavailable: 503,
  server_error: 500,
};

/**
 * An error response of the token or profile endpoint: `{"error","error_description"}` (RFC 6749 section 5.2, RFC 6750
 * section 3.1).
 */
export class OAuthError extends CodedError<OAuthErrorCode> {
  get status(): number {
    return OAUTH_STATUS[this.code] ?? 400;
  }
}

export type PageErrorCode =
  | 'bad_request'
  | 'unknown_client'
  | 'unknown_redirect'
  | 'form_expired'
  | 'foreign_form'
  | 'sign_in_lost'
  | 'sign_in_failed'
  | 'sign_in_declined'
  | 'unknown_person'
  | 'profile_unusable'
  | 'inactive_person'
  | 'not_found'
  | 'busy'
  | 'store_away'
  | 'internal';

const PAGE_STATUS: Readonly<Record<PageErrorCode, number>> = {
  bad_request: 400,
  unknown_client: 400,
  unknown_redirect: 400,
  form_expired: 403,
  foreign_form: 403,
  sign_in_lost: 400,
  sign_in_failed: 502,
  sign_in_declined: 403,
  unknown_person: 403,
  profile_unusable: 403,
  inactive_person: 403,
  not_found: 404,
  busy: 503,
  store_away: 503,
  internal: 500,
};

export interface PageErrorOptions {
  /** Target of the page's button; one of our own paths. */
  tryAgainPath?: string;
  retryAfterSec?: number;
  cause?: unknown;
}

/** An error page for a person. Its text depends only on the code. */
export class PageError extends CodedError<PageErrorCode> {
  readonly status: number;
  readonly tryAgainPath: string | undefined;
  readonly retryAfterSec: number | undefined;

  constructor(code: PageErrorCode, message: string, options: PageErrorOptions = {}) {
    super(code, message, { cause: options.cause });
    this.status = PAGE_STATUS[code];
    this.tryAgainPath = options.tryAgainPath;
    this.retryAfterSec = options.retryAfterSec;
  }
}

/** A Redis command failed, or took too long. */
export class StoreError extends CodedError<'store_away'> {}
