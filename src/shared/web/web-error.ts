import { CodedError } from '../coded-error.ts';

/**
 * `refused`: it may not be opened; `unreachable`: it did not answer, or not in time; `too_large`: more than was asked for;
 * `unusable`: it answered what nobody can use.
 */
export type WebErrorCode = 'refused' | 'unreachable' | 'too_large' | 'unusable';

/** Why an address of the web gives nothing. The message may go to a model: it holds no address inside and no key. */
export class WebError extends CodedError<WebErrorCode> {}
