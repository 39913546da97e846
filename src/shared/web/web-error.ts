import { CodedError } from '../coded-error.ts';

/**
 * `refused`: must not be opened; `unreachable`: no response, or not in time; `too_large`: larger than the limit; `unusable`:
 * the response cannot be used.
 */
export type WebErrorCode = 'refused' | 'unreachable' | 'too_large' | 'unusable';

/** Why a web address yields no content. The message may be passed to a model: it contains no internal address and no key. */
export class WebError extends CodedError<WebErrorCode> {}
