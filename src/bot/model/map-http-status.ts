import { classifyEngineError, type EngineErrorKind } from '../../shared/models/engine-error.ts';
import { ChatError, type ChatErrorCode } from './chat-error.ts';
import type { RefusalMeaning } from './refused-fields.ts';

/** Fault statuses after which the same request may be sent again (SECURITY.md bounded-retries). */
const RETRYABLE = new Set([409, 425, 500, 502, 503, 504]);

const CODES: Readonly<Record<EngineErrorKind, ChatErrorCode>> = {
  'too-long': 'chat_too_large',
  limited: 'chat_rate_limited',
  quota: 'chat_quota_spent',
  unauthorised: 'chat_refused',
  loading: 'chat_loading',
  'content-filter': 'chat_content_filter',
  'unknown-model': 'chat_unknown_model',
  'bad-request': 'chat_bad_request',
  timeout: 'chat_timeout',
  unavailable: 'chat_server_error',
};

export interface StatusDetail extends Partial<RefusalMeaning> {
  /** Error body, as text or as a parsed value. Not stored. */
  body?: unknown;
  retryAfterMs?: number;
}

/**
 * Maps an engine's response to an error. The error message contains only the status.
 * @param status HTTP status; 200 for an error in the body of a success or in a stream
 */
export function mapHttpStatus(
  status: number,
  { body, retryAfterMs, refusedFields, wantsThought }: StatusDetail,
): ChatError {
  const found = classifyEngineError(status, body);
  const { kind } = found;
  return new ChatError(
    found.status < 400 ? 'chat_bad_stream' : CODES[kind],
    `The chat service answered with status ${found.status}`,
    {
      status: found.status,
      retryAfterMs: retryAfterMs ?? found.retryAfterMs,
      isRetryable:
        ['limited', 'loading', 'timeout'].includes(kind) || (kind === 'unavailable' && RETRYABLE.has(found.status)),
      // Other kinds of refusals do not concern a field.
      refusedFields: kind === 'bad-request' || kind === 'unavailable' ? refusedFields : [],
      wantsThought,
    },
  );
}
