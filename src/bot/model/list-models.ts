import { throughProxy } from '../../shared/http/http-agent.ts';
import { ChatError } from './chat-error.ts';
import type { ChatLimits } from './chat-limits.ts';
import { parseObject } from './stream/completion-chunk.ts';
import { mapHttpStatus } from './map-http-status.ts';

export interface ListModelsOptions {
  baseUrl: string;
  apiKey: string;
  limits: Pick<ChatLimits, 'connectMs' | 'firstByteMs'>;
  signal?: AbortSignal;
}

/** Answers that mean "I have no such list": the chat interface's description names none. */
const NO_LIST = new Set([404, 405, 501]);

/** Asks for the names of the service's models. @returns undefined where it has no list. @throws ChatError */
export async function listModels({
  baseUrl,
  apiKey,
  limits,
  signal,
}: ListModelsOptions): Promise<string[] | undefined> {
  const { got } = await import('got');
  const url = `${baseUrl}/models`;
  const answer = await got(url, {
    ...throughProxy(url),
    headers: { authorization: `Bearer ${apiKey}`, accept: 'application/json' },
    retry: { limit: 0 },
    followRedirect: false,
    throwHttpErrors: false,
    timeout: { connect: limits.connectMs, request: limits.firstByteMs },
    signal,
  }).catch((cause: unknown) => {
    if (signal?.aborted === true) throw new ChatError('chat_cancelled', 'The list of models was cancelled');
    throw new ChatError('chat_unreachable', 'The chat service could not be reached', {
      isRetryable: true,
      cause: codeOf(cause),
    });
  });
  if (NO_LIST.has(answer.statusCode)) return undefined;
  if (answer.statusCode !== 200) throw mapHttpStatus(answer.statusCode, {});
  const data = parseObject(answer.body)?.['data'];
  if (!Array.isArray(data)) throw new ChatError('chat_bad_stream', 'The list of models is malformed', { status: 200 });
  return data.flatMap((entry: unknown) => (isNamed(entry) ? [entry.id] : []));
}

/** An HTTP client's error carries the request with its key; only its code is kept (SECURITY.md secrets-stay-inside). */
function codeOf(cause: unknown): Error | undefined {
  return cause instanceof Error && 'code' in cause ? new Error(`HTTP client: ${String(cause.code)}`) : undefined;
}

function isNamed(entry: unknown): entry is { id: string } {
  return typeof entry === 'object' && entry !== null && 'id' in entry && typeof entry.id === 'string';
}
