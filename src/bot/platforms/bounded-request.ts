import { KIB_BYTES } from '../../shared/clock.ts';
import { callHttp, HttpCallError, type HttpResponse, type HttpCall } from '../../shared/http/call-http.ts';
import { PlatformError } from './platform-error.ts';

/** `method` is required, so that no call of a platform's API changes it by accident. */
export type BoundedRequest = HttpCall & Required<Pick<HttpCall, 'method'>>;
export type BoundedResponse = HttpResponse;

const MAX_ANSWER_BYTES = 64 * KIB_BYTES;

/**
 * Makes one call to a platform, by default with at most 64 KiB of answer.
 * @throws PlatformError `unreachable`, `unsent` if `leavesWithinMs` is set and nothing left this process, or
 * `media_too_large` if the answer exceeds `maxBytes`; the signal's reason
 */
export async function requestBounded(url: URL, request: BoundedRequest): Promise<BoundedResponse> {
  try {
    return await callHttp(url, request.maxBytes === undefined ? { ...request, maxBytes: MAX_ANSWER_BYTES } : request);
  } catch (error) {
    if (!(error instanceof HttpCallError)) throw error;
    throw new PlatformError(CODES[error.code], error.message);
  }
}

const CODES = {
  timeout: 'unreachable',
  unreachable: 'unreachable',
  unsent: 'unsent',
  too_large: 'media_too_large',
} as const;
