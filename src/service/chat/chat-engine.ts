import type { ChatRequest } from './chat-request.ts';

/**
 * Who answers: the built-in model, or an engine elsewhere. What comes out is the wire's own: the JSON of a whole reply, or the text
 * of one or several `data:` events a step (`event-lines.ts`) without the `[DONE]`, so that an engine's further fields pass through.
 * Both methods throw ChatApiError, and stop working as soon as the signal fires; a stream's first step decides whether it begins at all.
 */
export interface ChatEngine {
  complete(request: ChatRequest, signal: AbortSignal): Promise<object>;
  stream(request: ChatRequest, signal: AbortSignal): AsyncIterable<string>;
  /** Frees what the engine holds open. */
  close(): Promise<void>;
}
