import type { ChatMessage, ChatRequest, ContentPart } from './chat-types.ts';
import { abilitiesOf } from './model-abilities.ts';

/** Writes a request as the chat interface wants it. Fields that its description does not name are not sent. */
export function requestBody({ model, messages, tools, thinking, stream = true }: ChatRequest): string {
  return JSON.stringify({
    model,
    messages: messages.map(writeMessage),
    stream,
    thinking: thinking === undefined ? undefined : { type: thinking === 'off' ? 'disabled' : 'enabled' },
    // To a model without efforts it may be an unknown field.
    reasoning_effort: thinking !== undefined && abilitiesOf(model).efforts.includes(thinking) ? thinking : undefined,
    tools: tools && tools.length > 0 ? tools.map((tool) => ({ type: 'function', function: tool })) : undefined,
  });
}

function writeMessage(message: ChatMessage): object {
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
      return { role: 'assistant', content: message.content || null, tool_calls: written };
    }
  }
}

function writePart(part: ContentPart): object {
  return part.type === 'text'
    ? { type: 'text', text: part.text }
    : { type: 'image_url', image_url: { url: part.dataUrl } };
}
