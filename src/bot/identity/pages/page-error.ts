import { CodedError } from '../../../shared/coded-error.ts';
import type { ErrorPage } from './error-texts.ts';

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
