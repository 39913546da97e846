import { SECOND_MS, type NowMs } from '../base/clock.ts';
import { ChatError, type ChatErrorCode } from './chat-error.ts';
import type { RefusalMeaning } from './refused-fields.ts';

/** Statuses after which the same request may be sent again (SECURITY.md bounded-retries). */
const RETRYABLE = new Set([408, 409, 425, 429, 500, 502, 503, 504, 529]);

const CODES: Readonly<Record<number, ChatErrorCode>> = {
  401: 'chat_refused',
  403: 'chat_refused',
  404: 'chat_unknown_model',
  408: 'chat_timeout',
  409: 'chat_server_error',
  413: 'chat_too_large',
  425: 'chat_server_error',
  429: 'chat_rate_limited',
};

/** Error codes with which services say that the prompt is longer than the model's context. */
const TOO_LONG = /context_length|context_window|prompt_too_long|string_above_max_length/;

export interface StatusDetail extends Partial<RefusalMeaning> {
  /** The `code` of the service's error object. */
  errorCode?: string;
  retryAfterMs?: number;
}

/** The error that an HTTP status other than 200 stands for. Only the status goes into its message. */
export function mapHttpStatus(
  status: number,
  { errorCode, retryAfterMs, refusedFields, wantsThought }: StatusDetail,
): ChatError {
  const isTooLong = status === 400 && TOO_LONG.test(errorCode ?? '');
  return new ChatError(
    isTooLong ? 'chat_too_large' : codeOfStatus(status),
    `The chat service answered with status ${status}`,
    {
      status,
      retryAfterMs,
      isRetryable: RETRYABLE.has(status),
      // A prompt that is too long is mended by a shorter one.
      refusedFields: isTooLong ? [] : refusedFields,
      wantsThought,
    },
  );
}

function codeOfStatus(status: number): ChatErrorCode {
  const known = CODES[status];
  if (known !== undefined) return known;
  if (status >= 500) return 'chat_server_error';
  return status >= 400 ? 'chat_bad_request' : 'chat_bad_stream';
}

/** Reads a `Retry-After` header, seconds or a date (RFC 9110 section 10.2.3), as milliseconds from now. */
export function readRetryAfter(header: string | undefined, nowMs: NowMs): number | undefined {
  if (header === undefined) return undefined;
  if (/^\s*\d{1,9}(\.\d+)?\s*$/.test(header)) return Math.ceil(Number(header) * SECOND_MS);
  const atMs = /[a-z]{3}/i.test(header) ? Date.parse(header) : Number.NaN;
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - nowMs());
}
