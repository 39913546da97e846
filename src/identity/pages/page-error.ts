import { CodedError } from '../../base/coded-error.ts';

/** The error pages of SECURITY.md page-headers; two have a second wording where the way out is another one. */
export type ErrorPage =
  'E1' | 'E2' | 'E3' | 'E3-unverifiable' | 'E4' | 'E5' | 'E6' | 'E7' | 'E7-this-chat' | 'E8' | 'E9';

/** What the "try again" form of E4 carries. */
export interface TryAgain {
  ticketHash: string;
  csrf: string;
}

interface PageErrorDetails {
  again?: TryAgain;
  /** Another status than the page's own (E4: 504 for a time-out). */
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
