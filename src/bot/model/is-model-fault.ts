import type { ChatError, ChatErrorCode } from './chat-error.ts';

/** Faults of this model or its service that another model may not have; the question and the user did not cause them. */
const FAULTS = new Set<ChatErrorCode>([
  'chat_unreachable',
  'chat_timeout',
  'chat_rate_limited',
  'chat_quota_spent',
  'chat_loading',
  'chat_unknown_model',
  'chat_server_error',
  'chat_bad_stream',
  'chat_stalled',
  'chat_truncated',
  'chat_circuit_open',
]);

/** Whether a retry with another model makes sense. A refused key (401) affects all models. */
export function isModelFault({ code, status }: ChatError): boolean {
  return FAULTS.has(code) || (code === 'chat_refused' && status === 403);
}
