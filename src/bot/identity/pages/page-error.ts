import { CodedError } from '../../../shared/coded-error.ts';

/** The error pages of SECURITY.md page-headers; two have a second wording where the way out is another one. */
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

/** What the "try again" form of service-failed and chat-app-failed carries. */
export interface TryAgain {
  ticketHash: string;
  csrf: string;
}

interface PageErrorDetails {
  again?: TryAgain;
  /** Another status than the page's own (service-failed: 504 for a time-out). */
  status?: number;
  retryAfterSec?: number;
}

/** Ends a step with an error page. It says nothing about why beyond the page. */
export class PageError extends CodedError<ErrorPage> {
  readonly details: PageErrorDetails;

  constructor(page: ErrorPage, details: PageErrorDetails = {}) {
    super(page, `Error page ${page}`);
    this.details = details;
  }
}
