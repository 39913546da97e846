import type { ChatRequest } from '../chat/chat-request.ts';

/** The request as an OpenAI-compatible engine takes it: only fields of the interface, `required` inside `parameters`. */
export function toEngineBody(request: ChatRequest, engineModel: string | undefined): object {
  const hasTools = request.tools.length > 0;
  return {
    model: engineModel ?? request.model.upstreamModel ?? request.model.id,
    messages: request.messages,
    stream: request.stream,
    temperature: request.temperature,
    top_p: request.topP,
    stream_options: request.stream && request.includeUsage ? { include_usage: true } : undefined,
    thinking: request.thinking && { type: request.thinking },
    reasoning_effort: request.reasoningEffort,
    tools: hasTools ? request.tools.map((tool) => ({ type: 'function', function: tool })) : undefined,
    tool_choice: hasTools ? toolChoice(request) : undefined,
  };
}

function toolChoice({ toolChoice: choice }: ChatRequest): unknown {
  return typeof choice === 'object' ? { type: 'function', function: { name: choice.name } } : choice;
}
