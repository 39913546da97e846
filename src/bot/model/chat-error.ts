import { CodedError } from '../../shared/coded-error.ts';
import type { OptionalField } from './request-body.ts';

/** Why the chat service gave no answer, or only a part of one. Callers branch on this, never on the message. */
export type ChatErrorCode =
  /** No connection, or it broke before anything was said. */
  | 'chat_unreachable'
  /** No first byte in time, or the whole call took too long. */
  | 'chat_timeout'
  /** Rate limit, concurrency limit or overload. `retryAfterMs` is what the service asks to wait. */
  | 'chat_rate_limited'
  /** The service refused the key. Only the operator can change that. */
  | 'chat_refused'
  /** The account has no balance or quota left. Only the operator can change that. */
  | 'chat_quota_spent'
  /** This process has no file descriptors or ports left for a call. */
  | 'chat_local_limit'
  /** The service is loading the model. */
  | 'chat_loading'
  /** The content rules of the service refuse the question. */
  | 'chat_content_filter'
  | 'chat_bad_request'
  | 'chat_unknown_model'
  /** The request is larger than the service or the model takes: shorten it. */
  | 'chat_too_large'
  | 'chat_server_error'
  /** What came back is not an answer: HTML, broken JSON, an over-long line. */
  | 'chat_bad_stream'
  /** Bytes came, then none for too long. */
  | 'chat_stalled'
  /** The connection ended before anything was said. After the first event this is an `end` event instead. */
  | 'chat_truncated'
  /** The answer passed the cap on its bytes. */
  | 'chat_answer_too_large'
  /** The model has failed too often; nothing was sent. `retryAfterMs` says when it is tried again. */
  | 'chat_circuit_open'
  /** The caller's signal. */
  | 'chat_cancelled';

export interface ChatErrorDetail {
  /** Milliseconds after which another try makes sense, as the service (or the breaker) says. */
  retryAfterMs?: number;
  /** The HTTP status, when there was an answer. */
  status?: number;
  /** Whether the same request may be sent again at once (SECURITY.md bounded-retries). */
  isRetryable?: boolean;
  /** The optional fields of the request that the service refused: it may be asked once more without them. */
  refusedFields?: readonly OptionalField[];
  /** The service goes on after a tool only with the thought before its call: it may be asked once more with it. */
  wantsThought?: boolean;
  /** Of `chat_circuit_open`: the failure that opened the breaker. */
  openedBy?: ChatErrorCode;
  cause?: unknown;
}

/** Thrown by the chat room. Its message and cause never hold message text, the model's text or the key (SECURITY.md secrets-stay-inside). */
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
