import { foldRoles } from '../../shared/models/fold-roles.ts';
import type { ChatRequest } from '../chat/chat-request.ts';

/** Fields of a former web search of the interface, which was withdrawn (SERVICE.md withdrawn-search). */
const WITHDRAWN: ReadonlySet<string> = new Set(['web_search', 'enable_search', 'search_options']);

/**
 * The request for an OpenAI-compatible engine: the caller's fields, with the engine's model name, the model's own defaults,
 * and `required` inside `parameters`. Null means omitted.
 */
export function toEngineBody(request: ChatRequest, engineModel: string | undefined): object {
  const { model, written, messages, stream, tools } = request;
  const { temperature, topP } = model.defaults;
  const body: Record<string, unknown> = {
    temperature,
    top_p: topP,
    ...withoutNulls(written),
    model: engineModel ?? model.upstream,
    messages: foldRoles(messages, model.roles),
    stream,
    tools: tools.length === 0 ? undefined : tools.map((tool) => ({ type: 'function', function: tool })),
    stream_options: stream ? (written['stream_options'] ?? undefined) : undefined,
  };
  const isLeftOut = (field: string) =>
    WITHDRAWN.has(field) || model.omit.has(field) || (field === 'tool_choice' && tools.length === 0);
  return Object.fromEntries(Object.entries(body).filter(([field]) => REQUIRED.has(field) || !isLeftOut(field)));
}

const REQUIRED = new Set(['model', 'messages', 'stream']);

function withoutNulls(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}
