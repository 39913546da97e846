import type { ChatError, ChatErrorCode } from './chat-error.ts';

/** What another model may do better: this one is away, unwell or gone; the question and its asker are not to blame. */
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

/** Whether it makes sense to put the same question to another model. A key that is refused (401) is so for all of them. */
export function isModelFault({ code, status }: ChatError): boolean {
  return FAULTS.has(code) || (code === 'chat_refused' && status === 403);
}
