import { SECOND_MS } from '../../shared/clock.ts';
import { requestForCheck, type CheckAnswer } from '../../shared/http/check-request.ts';

/** Where a chat service is and with what key it is asked. */
export interface ChatPlace {
  /** Ends in /v1. */
  baseUrl: string;
  apiKey: string;
}

const ANSWER_LIMIT_MS = 30 * SECOND_MS;

/** Asks for the list of models, which not every service has. */
export function askForModels({ baseUrl, apiKey }: ChatPlace): Promise<CheckAnswer> {
  return requestForCheck(`${baseUrl}/models`, { headers: { authorization: `Bearer ${apiKey}` } });
}

/** Asks for one tiny answer. */
export function askForWord(place: ChatPlace, model: string): Promise<CheckAnswer> {
  return askBriefly(place, { model, messages: [{ role: 'user', content: 'Say OK.' }], max_tokens: 8 });
}

/** Asks for a short answer, in one piece unless told; a service that does not know `max_tokens`, or wants more of them, is asked without. */
export async function askBriefly({ baseUrl, apiKey }: ChatPlace, request: object): Promise<CheckAnswer> {
  const ask = (json: object) =>
    requestForCheck(`${baseUrl}/chat/completions`, {
      headers: { authorization: `Bearer ${apiKey}` },
      json: { stream: false, ...json },
      timeoutMs: ANSWER_LIMIT_MS,
    });
  const answer = await ask(request);
  const isRefused =
    'body' in answer && [400, 422].includes(answer.status) && /max_(?:output_)?tokens/.test(answer.body);
  return isRefused ? ask({ ...request, max_tokens: undefined }) : answer;
}

/** The names in a list of models; undefined when it is none. */
export function modelsIn(body: string): string[] | undefined {
  const data = field(body, 'data');
  if (!Array.isArray(data)) return undefined;
  return data.flatMap((entry: unknown) => {
    const id = typeof entry === 'object' && entry !== null && 'id' in entry ? entry.id : undefined;
    return typeof id === 'string' ? [id] : [];
  });
}

/** Whether a completion holds an answer. */
export function hasChoices(body: string): boolean {
  const choices = field(body, 'choices');
  return Array.isArray(choices) && choices.length > 0;
}

function field(body: string, name: string): unknown {
  try {
    const parsed: unknown = JSON.parse(body);
    return typeof parsed === 'object' && parsed !== null ? (parsed as Record<string, unknown>)[name] : undefined;
  } catch {
    return undefined;
  }
}
