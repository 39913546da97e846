import type { ChatRequest } from './chat-request.ts';

/** Receives a streamed answer while it is generated. */
export interface AnswerSink {
  /** @returns false if the client's buffer is full: wait for `room` before the next write */
  write(events: string): boolean;
  /** Resolves when the client has room again. Rejects if it has disconnected. */
  drained(): Promise<unknown>;
}

/**
 * Generates answers: the built-in model, or an external engine. Output is in wire format, so that an engine's additional
 * fields pass through: the JSON of a complete response, or the text of one or more `data:` events per write
 * (`event-lines.ts`) without the `[DONE]`. Both methods throw ChatApiError, and stop as soon as the signal aborts. Errors
 * before a stream's first write become the HTTP status.
 */
export interface ChatEngine {
  complete(request: ChatRequest, signal: AbortSignal): Promise<object>;
  stream(request: ChatRequest, signal: AbortSignal, sink: AnswerSink): Promise<void>;
  /** Releases the engine's connections. */
  close(): Promise<void>;
}
