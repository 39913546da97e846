import { SECOND_MS } from '../../../shared/clock.ts';
import { callHttp, type HttpCall } from '../../../shared/http/call-http.ts';
import type { RawResponse } from './raw-answer.ts';

const CONNECT_MS = 2 * SECOND_MS;

/** Time limit of a whole call. An authorization code is hardly valid longer. Milliseconds. */
export const CALL_TOTAL_MS = 5 * SECOND_MS;

/** If `form` is set, the call is a POST; otherwise a GET. */
export type ServiceCall = Pick<HttpCall, 'form' | 'headers' | 'timeoutMs'> & { url: string };

/**
 * One call to the sign-in service, limited to 5 s and 256 KiB: tokens and profiles with hundreds of groups take some dozens
 * of KiB. Never retried and never redirected (SECURITY.md code-used-once, token-answer-checked).
 * @throws HttpCallError
 */
export async function callService({
  url,
  headers,
  ...call
}: ServiceCall): Promise<RawResponse & { contentType: string }> {
  const accepting = { accept: 'application/json', ...headers };
  const answer = await callHttp(url, {
    timeoutMs: CALL_TOTAL_MS,
    connectMs: CONNECT_MS,
    ...call,
    headers: accepting,
  });
  const { status, body, contentType = '' } = answer;
  return { status, body: body.toString('utf8'), contentType };
}
