import type { ChatRequest } from './chat-request.ts';

/**
 * Who answers: the built-in model, or an engine elsewhere. What comes out is the wire's JSON (`Completion`, `CompletionChunk`),
 * so that an engine's further fields pass through.
 * Both methods throw ChatApiError, and stop working as soon as the signal fires; a stream's first step decides whether it begins at all.
 */
export interface ChatEngine {
  complete(request: ChatRequest, signal: AbortSignal): Promise<object>;
  stream(request: ChatRequest, signal: AbortSignal): AsyncIterable<object>;
  /** Frees what the engine holds open. */
  close(): Promise<void>;
}
