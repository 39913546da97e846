import { SECOND_MS } from '../../shared/clock.ts';
import { requestForCheck, type CheckAnswer } from '../../shared/http/check-request.ts';
import type { EngineHeaders } from '../../shared/models/engine-headers.ts';
import { asObject, parseJson } from '../../shared/parse-json.ts';

/** Address and key of a chat service. */
export interface ChatPlace {
  /** Ends in /v1. */
  baseUrl: string;
  apiKey: string;
  /** Additional headers for the engine, by the model's name there; without a name, those for its list. */
  headersFor?(model?: string): EngineHeaders;
}

const ANSWER_LIMIT_MS = 30 * SECOND_MS;

/** Requests the list of models, which not every service has. */
export function probeModels({ baseUrl, apiKey, headersFor }: ChatPlace): Promise<CheckAnswer> {
  return requestForCheck(`${baseUrl}/models`, { headers: { ...headersFor?.(), authorization: `Bearer ${apiKey}` } });
}

/** Requests an answer of at most 8 tokens. */
export function probeAnswer(place: ChatPlace, model: string): Promise<CheckAnswer> {
  return askBriefly(place, { model, messages: [{ role: 'user', content: 'Say OK.' }], max_tokens: 8 });
}

/**
 * Requests a short answer, not streamed by default. If the service does not know `max_tokens` or requires a larger value,
 * the request is repeated without it.
 */
export async function askBriefly(
  { baseUrl, apiKey, headersFor }: ChatPlace,
  request: { model: string; [field: string]: unknown },
): Promise<CheckAnswer> {
  const ask = (json: object) =>
    requestForCheck(`${baseUrl}/chat/completions`, {
      headers: { ...headersFor?.(request.model), authorization: `Bearer ${apiKey}` },
      json: { stream: false, ...json },
      timeoutMs: ANSWER_LIMIT_MS,
    });
  const answer = await ask(request);
  const isRefused =
    'body' in answer && [400, 422].includes(answer.status) && /max_(?:output_)?tokens/.test(answer.body);
  return isRefused ? ask({ ...request, max_tokens: undefined }) : answer;
}

/** The names in a list of models; undefined if the body is not a list. */
export function modelsIn(body: string): string[] | undefined {
  const data = field(body, 'data');
  if (!Array.isArray(data)) return undefined;
  return data.flatMap((entry: unknown) => {
    const id = asObject(entry)?.['id'];
    return typeof id === 'string' ? [id] : [];
  });
}

/** Whether a completion contains an answer. */
export function hasChoices(body: string): boolean {
  const choices = field(body, 'choices');
  return Array.isArray(choices) && choices.length > 0;
}

function field(body: string, name: string): unknown {
  return asObject(parseJson(body))?.[name];
}
