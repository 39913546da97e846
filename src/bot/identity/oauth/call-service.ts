import { got } from 'got';
import { inBackground } from '../../../shared/in-background.ts';
import { KIB_BYTES, SECOND_MS } from '../../../shared/clock.ts';
import { throughProxy } from '../../../shared/http/http-agent.ts';
import type { RawAnswer } from './raw-answer.ts';

const CONNECT_MS = 2 * SECOND_MS;
/** Tokens and profiles with hundreds of groups have some dozens of KiB. */
const MAX_ANSWER_BYTES = 256 * KIB_BYTES;

/** The whole of a call; a code lives hardly longer. Milliseconds. */
export const CALL_TOTAL_MS = 5 * SECOND_MS;

export interface ServiceCall {
  url: string;
  /** Sent by POST; without it the call is a GET. */
  form?: Record<string, string>;
  headers?: Readonly<Record<string, string>>;
  /** 5 s unless told. Milliseconds. */
  totalMs?: number;
}

/** An answer of more than 256 KiB was cut off. */
export class AnswerTooLargeError extends Error {}

/**
 * One call to the sign-in service, bounded in time and size, never repeated and never led elsewhere (SECURITY.md code-used-once,
 * token-answer-checked).
 * @throws AnswerTooLargeError; else what the client throws, which holds the request with its secrets: never log it as it is
 */
export async function callService(call: ServiceCall): Promise<RawAnswer & { contentType: string }> {
  const { url, form, headers, totalMs = CALL_TOTAL_MS } = call;
  const stop = new AbortController();
  const request = got(url, {
    ...throughProxy(url),
    method: form ? 'POST' : 'GET',
    form,
    headers: { accept: 'application/json', ...headers },
    timeout: { lookup: CONNECT_MS, connect: CONNECT_MS, secureConnect: CONNECT_MS, request: totalMs },
    retry: { limit: 0 },
    followRedirect: false,
    throwHttpErrors: false,
    decompress: false,
    signal: stop.signal,
  });
  const watch = ({ transferred }: { transferred: number }) => {
    if (transferred > MAX_ANSWER_BYTES) stop.abort();
  };
  // What it comes to is awaited below.
  inBackground(() => request.on('downloadProgress', watch));
  try {
    const { statusCode, body, headers: answered } = await request;
    return { status: statusCode, body, contentType: answered['content-type'] ?? '' };
  } catch (error) {
    throw stop.signal.aborted ? new AnswerTooLargeError('more than 256 KiB') : error;
  }
}
