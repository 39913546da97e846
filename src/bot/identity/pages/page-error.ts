import { CodedError } from '../../../shared/coded-error.ts';

/** The error pages of SECURITY.md page-headers. Two have a variant with another next step. */
export type ErrorPage =
  | 'link-used-up'
  | 'sign-in-broken-off'
  | 'other-chat-account'
  | 'other-organisation'
  | 'chat-account-unverifiable'
  | 'chat-app-failed'
  | 'service-failed'
  | 'page-expired'
  | 'account-refused'
  | 'linked-elsewhere'
  | 'chat-linked-elsewhere'
  | 'too-many-tries'
  | 'sign-in-unavailable';

/** Fields of the "try again" form on service-failed and chat-app-failed. */
export interface TryAgain {
  ticketHash: string;
  csrf: string;
}

interface PageErrorDetails {
  again?: TryAgain;
  /** Overrides the page's status (service-failed: 504 for a timeout). */
  status?: number;
  retryAfterSec?: number;
}

/** Ends a step with an error page. Contains no details beyond the page. */
export class PageError extends CodedError<ErrorPage> {
  readonly details: PageErrorDetails;

  constructor(page: ErrorPage, details: PageErrorDetails = {}) {
    super(page, `Error page ${page}`);
    this.details = details;
  }
}
