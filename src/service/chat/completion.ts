import type { ToolCall } from './chat-message.ts';

/** Estimated token counts. */
export interface Usage {
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
}

/** A complete response in wire format. */
export interface Completion {
  id: string;
  object: 'chat.completion';
  created: number;
  model: string;
  choices: {
    index: number;
    message: { role: 'assistant'; content: string | null; reasoning_content?: string; tool_calls: ToolCall[] };
    finish_reason: string;
    logprobs: null;
    stop_reason: null;
  }[];
  usage: Usage;
  prompt_logprobs: null;
}

/** Content that one chunk adds. Reasoning comes before the text. */
export interface Delta {
  role?: 'assistant';
  content?: string | null;
  reasoning_content?: string;
  tool_calls?: { index: number; id?: string; type?: 'function'; function: { name?: string; arguments?: string } }[];
}

/** One chunk of a streamed response. Only the last chunk with content has a `finish_reason`. */
export interface CompletionChunk {
  id: string;
  object: 'chat.completion.chunk';
  created: number;
  model: string;
  choices: { index: number; delta: Delta; finish_reason?: string }[];
  usage?: Usage;
}
