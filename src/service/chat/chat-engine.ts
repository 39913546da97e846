import type { ChatRequest } from './chat-request.ts';

/** Where a streamed answer goes while it is made. */
export interface AnswerSink {
  /** @returns false where the client has no room for more: then `room` is waited for before the next */
  write(events: string): boolean;
  /** Settles once the client has room again. Rejects when it has gone. */
  room(): Promise<unknown>;
}

/**
 * Who answers: the built-in model, or an engine elsewhere. What comes out is the wire's own: the JSON of a whole reply, or the text
 * of one or several `data:` events a write (`event-lines.ts`) without the `[DONE]`, so that an engine's further fields pass through.
 * Both methods throw ChatApiError, and stop working as soon as the signal fires; what fails before a stream's first write is told by the status.
 */
export interface ChatEngine {
  complete(request: ChatRequest, signal: AbortSignal): Promise<object>;
  stream(request: ChatRequest, signal: AbortSignal, sink: AnswerSink): Promise<void>;
  /** Frees what the engine holds open. */
  close(): Promise<void>;
}
