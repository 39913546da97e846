import { CodedError } from '../../shared/coded-error.ts';
import type { OptionalField } from './request-body.ts';

/** Reason why the chat service returned no answer or only part of one. Callers branch on this code, never on the message. */
export type ChatErrorCode =
  /** No connection, or the connection broke before the first event. */
  | 'chat_unreachable'
  /** No first byte in time, or the whole call took too long. */
  | 'chat_timeout'
  /** Rate limit, concurrency limit or overload. `retryAfterMs` is the wait requested by the service. */
  | 'chat_rate_limited'
  /** The service refused the key. Only the operator can resolve this. */
  | 'chat_refused'
  /** The account has no balance or quota left. Only the operator can resolve this. */
  | 'chat_quota_spent'
  /** This process has no file descriptors or ports left for a call. */
  | 'chat_local_limit'
  /** The service is loading the model. */
  | 'chat_loading'
  /** The content rules of the service reject the question. */
  | 'chat_content_filter'
  | 'chat_bad_request'
  | 'chat_unknown_model'
  /** The request exceeds the limit of the service or the model; it must be shortened. */
  | 'chat_too_large'
  | 'chat_server_error'
  /** The response is not an answer: HTML, broken JSON, an over-long line. */
  | 'chat_bad_stream'
  /** The stream began, then no bytes arrived for too long. */
  | 'chat_stalled'
  /** The connection ended before the first event. After the first event, the `end` event reports the truncation instead. */
  | 'chat_truncated'
  /** The answer exceeded the maximum number of bytes. */
  | 'chat_answer_too_large'
  /** The model has failed too often; no request was sent. `retryAfterMs` is the time until the next probe. */
  | 'chat_circuit_open'
  /** The caller aborted the call. */
  | 'chat_cancelled';

export interface ChatErrorDetail {
  /** Milliseconds until a retry makes sense, according to the service or the breaker. */
  retryAfterMs?: number;
  /** HTTP status, if there was a response. */
  status?: number;
  /** Whether the same request may be sent again immediately (SECURITY.md bounded-retries). */
  isRetryable?: boolean;
  /** Optional request fields that the service refused. The request may be repeated once without them. */
  refusedFields?: readonly OptionalField[];
  /** The service requires the reasoning that preceded a tool call. The request may be repeated once with it. */
  wantsThought?: boolean;
  /** For `chat_circuit_open`: the failure that opened the breaker. */
  openedBy?: ChatErrorCode;
  cause?: unknown;
}

/**
 * Error of the chat client. Its message and cause never contain message text, model output or the key
 * (SECURITY.md secrets-stay-inside).
 */
export class ChatError extends CodedError<ChatErrorCode> {
  readonly retryAfterMs: number | undefined;
  readonly status: number | undefined;
  readonly isRetryable: boolean;
  readonly refusedFields: readonly OptionalField[];
  readonly wantsThought: boolean;
  readonly openedBy: ChatErrorCode | undefined;

  constructor(code: ChatErrorCode, message: string, detail: ChatErrorDetail = {}) {
    super(code, message, detail.cause === undefined ? undefined : { cause: detail.cause });
    this.retryAfterMs = detail.retryAfterMs;
    this.status = detail.status;
    this.isRetryable = detail.isRetryable ?? false;
    this.refusedFields = detail.refusedFields ?? [];
    this.wantsThought = detail.wantsThought ?? false;
    this.openedBy = detail.openedBy;
  }
}
