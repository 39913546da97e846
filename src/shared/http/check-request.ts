import { MIB_BYTES, SECOND_MS } from '../clock.ts';
import { callHttp, HttpCallError, type HttpCall } from './call-http.ts';

type CheckRequest = Pick<HttpCall, 'headers' | 'json' | 'form' | 'timeoutMs' | 'connectMs' | 'maxBytes'>;

/** The parts of a response that a check needs; `code` tells why there was no response. */
export type CheckAnswer = { status: number; body: string; location: string | undefined } | { status: 0; code: string };

/** Pages and metrics are larger than the answers of an API. */
const LIMITS = { connectMs: 5 * SECOND_MS, timeoutMs: 10 * SECOND_MS, maxBytes: 4 * MIB_BYTES };

/** Makes one call. Never throws: a check reports failures. */
export async function requestForCheck(url: string, request: CheckRequest = {}): Promise<CheckAnswer> {
  try {
    const { status, body, headers } = await callHttp(url, { ...LIMITS, ...request });
    return { status, body: body.toString('utf8'), location: headers['location']?.toString() };
  } catch (error) {
    return { status: 0, code: error instanceof HttpCallError ? error.detail : 'unknown' };
  }
}
