import type { ModelEntry } from '../../shared/models/model-entry.ts';
import { foldRoles } from '../../shared/models/fold-roles.ts';
import { thinkingFields } from '../../shared/models/thinking-fields.ts';
import type { ChatMessage, ChatRequest, ContentPart } from './chat-types.ts';

/** Fields that are not essential: if a service refuses one, the request is repeated without it. */
export const OPTIONAL_FIELDS = [
  'stream_options',
  'thinking',
  'reasoning_effort',
  'enable_thinking',
  'chat_template_kwargs',
  'max_tokens',
  'user',
  'tools',
] as const;

export type OptionalField = (typeof OPTIONAL_FIELDS)[number];

/** Request format that a model's engine requires. */
export interface AskingWay {
  /** Optional fields to omit. */
  left: ReadonlySet<string>;
  /** Sends the reasoning before a tool call back with the call, only to the engine that produced it. */
  withThought: boolean;
}

/** Builds the fields of a request according to the model's entry and the learned requirements of its engine. */
export function requestFields(
  request: ChatRequest,
  model: ModelEntry,
  { left, withThought }: AskingWay,
): Readonly<Record<string, unknown>> {
  const { messages, tools = [], thinking, stream = true, user } = request;
  const fields: Record<string, unknown> = {
    model: model.upstream,
    messages: foldRoles(
      messages.map((message) => writeMessage(message, withThought)),
      model.roles,
    ),
    stream,
    stream_options: stream ? { include_usage: true } : undefined,
    ...thinkingFields(model, thinking),
    max_tokens: model.answerTokens,
    user,
    tools:
      tools.length > 0 && model.callsTools ? tools.map((tool) => ({ type: 'function', function: tool })) : undefined,
  };
  // Earlier tool calls in the messages are invalid without their declarations.
  const hasCalled = messages.some(({ role }) => role === 'tool');
  const isLeftOut = (field: string) => model.omit.has(field) || (left.has(field) && !(field === 'tools' && hasCalled));
  return Object.fromEntries(Object.entries(fields).filter(([field]) => REQUIRED.has(field) || !isLeftOut(field)));
}

const REQUIRED = new Set(['model', 'messages', 'stream']);

/** The optional fields that a request contains. */
export function optionalFieldsOf(fields: Readonly<Record<string, unknown>>): OptionalField[] {
  return OPTIONAL_FIELDS.filter((field) => fields[field] !== undefined);
}

function writeMessage(message: ChatMessage, withThought: boolean): object {
  switch (message.role) {
    case 'system':
      return { role: 'system', content: message.content };
    case 'user':
      return {
        role: 'user',
        content: typeof message.content === 'string' ? message.content : message.content.map(writePart),
      };
    case 'tool':
      return { role: 'tool', tool_call_id: message.callId, content: message.content };
    case 'assistant': {
      const calls = message.toolCalls ?? [];
      if (calls.length === 0) return { role: 'assistant', content: message.content };
      const written = calls.map(({ callId, name, argumentsJson }) => ({
        id: callId,
        type: 'function',
        function: { name, arguments: argumentsJson },
      }));
      const thought = withThought ? (message.thought ?? '') : undefined;
      return { role: 'assistant', content: message.content || null, reasoning_content: thought, tool_calls: written };
    }
  }
}

function writePart(part: ContentPart): object {
  return part.type === 'text'
    ? { type: 'text', text: part.text }
    : { type: 'image_url', image_url: { url: part.dataUrl } };
}
