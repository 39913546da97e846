import { got } from 'got';
import { SECOND_MS } from '../clock.ts';
import { throughProxy } from './http-agent.ts';

interface CheckRequest {
  headers?: Record<string, string>;
  /** Sent as JSON, by POST. */
  json?: object;
  /** Sent as a form, by POST. */
  form?: Record<string, string>;
  timeoutMs?: number;
}

/** What a check needs to know of an answer; `code` says why there was none. */
export type CheckAnswer = { status: number; body: string; location: string | undefined } | { status: 0; code: string };

const CONNECT_TIMEOUT_MS = 5 * SECOND_MS;

/** One call, as it is: no retries, no redirects. Never throws, since a check reports what it meets. */
export async function requestForCheck(url: string, request: CheckRequest = {}): Promise<CheckAnswer> {
  const { headers, json, form, timeoutMs = 10 * SECOND_MS } = request;
  try {
    const {
      statusCode,
      body,
      headers: answered,
    } = await got(url, {
      ...throughProxy(url),
      method: json || form ? 'POST' : 'GET',
      headers,
      json,
      form,
      retry: { limit: 0 },
      followRedirect: false,
      throwHttpErrors: false,
      timeout: { connect: CONNECT_TIMEOUT_MS, request: timeoutMs },
    });
    return { status: statusCode, body, location: answered.location };
  } catch (error) {
    // The client's message holds the whole address; its code says enough.
    return { status: 0, code: error instanceof Error && 'code' in error ? String(error.code) : 'unknown' };
  }
}
