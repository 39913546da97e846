import { CodedError } from '../../shared/coded-error.ts';

export type ChatApiErrorCode =
  | 'invalid_json'
  | 'invalid_value'
  | 'invalid_api_key'
  | 'model_not_found'
  | 'unknown_address'
  | 'request_too_large'
  | 'rate_limit_exceeded'
  | 'engine_refused'
  | 'unavailable'
  | 'internal_error';

const STATUS: Readonly<Record<ChatApiErrorCode, number>> = {
  invalid_json: 400,
  invalid_value: 400,
  invalid_api_key: 401,
  model_not_found: 404,
  unknown_address: 404,
  request_too_large: 413,
  rate_limit_exceeded: 429,
  engine_refused: 400,
  unavailable: 503,
  internal_error: 500,
};

const TYPE_OF_STATUS: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  404: 'not_found_error',
  429: 'rate_limit_error',
  500: 'server_error',
  503: 'server_error',
};

export interface ChatApiErrorOptions {
  /** The invalid request field, such as `messages[0].content`. */
  param?: string;
  /** Sent as `Retry-After`. */
  retryAfterSec?: number;
  cause?: unknown;
}

/** An error response of the chat interface: 400, 401, 404, 413, 429, 500 or 503 with the error object. */
export class ChatApiError extends CodedError<ChatApiErrorCode> {
  readonly status: number;
  readonly param: string | null;
  readonly retryAfterSec: number | undefined;

  constructor(code: ChatApiErrorCode, message: string, options: ChatApiErrorOptions = {}) {
    super(code, message, { cause: options.cause });
    this.status = STATUS[code];
    this.param = options.param ?? null;
    this.retryAfterSec = options.retryAfterSec;
  }

  /** `{"error":{"message","type","param","code"}}` */
  toBody(): { error: { message: string; type: string; param: string | null; code: string } } {
    const type = TYPE_OF_STATUS[this.status] ?? 'invalid_request_error';
    return { error: { message: this.message, type, param: this.param, code: this.code } };
  }
}

/** Converts any thrown value into an error response. An unexpected error reveals no internals. */
export function asChatApiError(thrown: unknown): ChatApiError {
  if (thrown instanceof ChatApiError) return thrown;
  return new ChatApiError('internal_error', 'An unexpected error occurred in the service', { cause: thrown });
}
