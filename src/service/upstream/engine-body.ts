import type { ChatRequest } from '../chat/chat-request.ts';

/** The request as an OpenAI-compatible engine takes it: only fields of the interface, `required` inside `parameters`. */
export function toEngineBody(request: ChatRequest, engineModel: string | undefined): object {
  return {
    model: engineModel ?? request.model.upstreamModel ?? request.model.id,
    messages: request.messages,
    stream: request.stream,
    temperature: request.temperature,
    top_p: request.topP,
    ...(request.stream && request.includeUsage ? { stream_options: { include_usage: true } } : {}),
    ...(request.thinking === undefined ? {} : { thinking: { type: request.thinking } }),
    ...(request.reasoningEffort === undefined ? {} : { reasoning_effort: request.reasoningEffort }),
    ...(request.tools.length === 0
      ? {}
      : {
          tools: request.tools.map((tool) => ({ type: 'function', function: tool })),
          tool_choice: toolChoice(request),
        }),
  };
}

function toolChoice({ toolChoice: choice }: ChatRequest): unknown {
  return typeof choice === 'object' ? { type: 'function', function: { name: choice.name } } : choice;
}
