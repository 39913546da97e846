import { MIB_BYTES } from '../../shared/clock.ts';
import type { EngineHeaders } from '../../shared/models/engine-headers.ts';
import { callHttp, HttpCallError } from '../../shared/http/call-http.ts';
import { ChatError } from './chat-error.ts';
import type { ChatLimits } from './chat-limits.ts';
import { mapHttpStatus } from './map-http-status.ts';
import { modelsIn } from './probe-chat.ts';

export interface ListModelsOptions {
  baseUrl: string;
  apiKey: string;
  headers?: EngineHeaders;
  limits: Pick<ChatLimits, 'connectMs' | 'firstByteMs'>;
  signal?: AbortSignal;
}

/** Statuses of a service without a list of models, which the chat API does not require. */
const NO_LIST = new Set([404, 405, 501]);
/** Lists of routers have hundreds of models with their descriptions. */
const MAX_LIST_BYTES = 4 * MIB_BYTES;

/** Requests the model names of the service. @returns undefined if it has no list. @throws ChatError */
export async function listModels({
  baseUrl,
  apiKey,
  headers,
  limits,
  signal,
}: ListModelsOptions): Promise<string[] | undefined> {
  const answer = await callHttp(`${baseUrl}/models`, {
    headers: { ...headers, authorization: `Bearer ${apiKey}`, accept: 'application/json' },
    connectMs: limits.connectMs,
    timeoutMs: limits.firstByteMs,
    maxBytes: MAX_LIST_BYTES,
    signal,
  }).catch((cause: unknown) => {
    if (signal?.aborted === true) throw new ChatError('chat_cancelled', 'The list of models was cancelled');
    throw new ChatError('chat_unreachable', 'The chat service could not be reached', {
      isRetryable: true,
      cause: cause instanceof HttpCallError ? new Error(`HTTP client: ${cause.detail}`) : undefined,
    });
  });
  if (NO_LIST.has(answer.status)) return undefined;
  if (answer.status !== 200) throw mapHttpStatus(answer.status, {});
  const models = modelsIn(answer.body.toString('utf8'));
  if (!models) throw new ChatError('chat_bad_stream', 'The list of models is malformed', { status: 200 });
  return models;
}
