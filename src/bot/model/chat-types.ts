import type { ModelCatalog } from '../../shared/models/model-catalog.ts';
import type { Thinking } from '../../shared/models/thinking-fields.ts';

/** Input and output types of the chat client. */

export type ContentPart =
  | { type: 'text'; text: string }
  /** An image as `data:<media type>;base64,<data>`, never a URL (SECURITY.md pinned-media). */
  | { type: 'image'; dataUrl: string };

/** A function call requested by the model. The arguments are untrusted JSON text. */
export interface ToolCall {
  callId: string;
  name: string;
  argumentsJson: string;
}

export type ChatMessage =
  | { role: 'system'; content: string }
  | { role: 'user'; content: string | ContentPart[] }
  /** `thought` is the model's reasoning before these calls. It is sent only to an engine that requires it. */
  | { role: 'assistant'; content: string; toolCalls?: ToolCall[]; thought?: string }
  | { role: 'tool'; callId: string; content: string };

export interface ToolDeclaration {
  name: string;
  description: string;
  /** A JSON schema of type `object`. */
  parameters: Readonly<Record<string, unknown>>;
}

/** Reason for a wait: a busy engine, an unreachable service, or a model that is loading. */
export type WaitReason = 'capacity' | 'reach' | 'loading';

/** Limits of a question's wait for the service. Times are on the monotonic clock. */
export interface WaitPolicy {
  /** Time of the question. Older questions have priority. */
  askedAtMs: number;
  untilMs: number;
  /** Called when the question begins to wait and when the reason changes. Must not throw or block. */
  waits(reason: WaitReason): void;
}

export interface ChatRequest {
  model: string;
  /**
   * Called instead when the model's breaker is open or the model fails before the first event. Must be able to answer the
   * same messages.
   */
  fallbackModel?: string;
  messages: readonly ChatMessage[];
  tools?: readonly ToolDeclaration[];
  /** Defaults to the service's own setting. */
  thinking?: Thinking;
  /** Pseudonym of the user's account, for services that require one. */
  user?: string;
  /** Delivery id of the message, for log lines and the `X-Request-Id` header. */
  trace?: string;
  /** Length at which the answer text is cut with the reason `length`. Applies if it is below the client's own limit. */
  maxAnswerChars?: number;
  /** Whether the answer is streamed or sent in one piece; the events are the same. Defaults to true. */
  stream?: boolean;
  /** Lets the request wait for the service. Without it, the request fails after its attempts. */
  waitPolicy?: WaitPolicy;
  /**
   * Called before each HTTP call. If it returns a promise, the call gives up its place at the engine, waits for the promise and
   * enters again; a second promise is awaited in place. Must not throw; the signal aborts a call that is no longer allowed.
   */
  beforeCall?(): Promise<void> | undefined;
  /** Called at the end of each HTTP call, with its outcome as in `ChatReport.callEnded`. Must not throw or block. */
  onCallEnd?(call: { model: string; outcome: string; durationMs: number; firstEventMs?: number }): void;
  /** Called when the response of the service begins, before the first word. Must not throw or block. */
  onResponseStart?(): void;
}

/**
 * Reason why an answer ended. `other`: an unknown finish reason; the answer is complete. `truncated`: the connection ended
 * early; no more text follows. `length`: the limit of the model or of the client.
 */
export type EndReason = 'stop' | 'length' | 'tool_calls' | 'content_filter' | 'other' | 'truncated';

/** Events of an answer, in order. `end` occurs once and last; without it a ChatError is thrown. */
export type ChatEvent =
  /** The fallback is called because the model is unavailable. Occurs first or not at all. */
  | { type: 'fallback'; model: string }
  | { type: 'text'; delta: string }
  /** All text so far was reasoning without an opening marker and does not belong to the answer. */
  | { type: 'retract' }
  /** Reasoning. Never shown or stored unless a setting enables it (SECURITY.md thoughts-hidden). */
  | { type: 'reasoning'; delta: string }
  /** A complete call: emitted after all of its fragments have arrived, never from a truncated answer. */
  | ({ type: 'tool-call'; index: number } & ToolCall)
  /** The service's own count. Not every service sends it in streams. */
  /** `isOfLaterRound`: the prompt also contained results of tools. */
  | { type: 'usage'; promptTokens: number; completionTokens: number; isOfLaterRound?: boolean }
  | { type: 'end'; reason: EndReason };

type OfCall = Pick<ChatRequest, 'model' | 'trace'>;

/** Reports of each call for metrics. They contain no message content. */
export interface ChatReport {
  /**
   * One HTTP call ended. `outcome` is `complete`, `truncated`, or the error code; `firstEventMs` is absent if there was no
   * event, the tokens if the service did not count them.
   */
  callEnded(
    call: OfCall & {
      outcome: string;
      durationMs: number;
      firstEventMs?: number;
      inputTokens?: number;
      outputTokens?: number;
    },
  ): void;
  /** A call will be repeated after a pause. */
  retried(retry: OfCall & { code: string; status?: number; waitMs: number }): void;
  /** A question was admitted, or gave up, after a wait. */
  waited(wait: OfCall & { reason: WaitReason; waitMs: number }): void;
  /** The learned concurrency limit of this model's engine changed; 0 for no limit. */
  limitChanged(change: { model: string; limit: number }): void;
  breakerChanged(change: { model: string; state: 'open' | 'half-open' | 'closed' }): void;
  /** The fallback model answers because the requested model could not; `code` is the reason. */
  fellBack(event: OfCall & { fallback: string; code: string }): void;
  /** The service sent a finish reason unknown to this version; the answer counts as complete. */
  unknownFinishReason(answer: OfCall): void;
}

/** Receives the events of an answer in order, synchronously with the arrival of their bytes. Must not block. */
export type OnChatEvent = (event: ChatEvent) => void;

export interface ChatClient {
  /**
   * Requests an answer and streams it to `onEvent`. An abort of the signal or an error of the listener frees the connection
   * immediately. Retries happen only before the first event (SECURITY.md no-second-beginning).
   * @returns after the `end` event. @throws ChatError; events delivered before it remain valid but incomplete
   */
  stream(request: ChatRequest, signal: AbortSignal, onEvent: OnChatEvent): Promise<void>;
  /** The same client with the same connections, but with another model catalog. */
  withCatalog(catalog: ModelCatalog): ChatClient;
  /** Closes the connections and breaks off open answers. */
  close(): Promise<void>;
}
