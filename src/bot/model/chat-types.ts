import type { ModelCatalog } from '../../shared/models/model-catalog.ts';
import type { Thinking } from '../../shared/models/thinking-fields.ts';

/** What the chat room takes and gives. */

export type ContentPart =
  | { type: 'text'; text: string }
  /** An image as `data:<media type>;base64,<data>`; never an address (SECURITY.md pinned-media). */
  | { type: 'image'; dataUrl: string };

/** A call of a declared function, as the model asked for it. The arguments are untrusted JSON text. */
export interface ToolCall {
  callId: string;
  name: string;
  argumentsJson: string;
}

export type ChatMessage =
  | { role: 'system'; content: string }
  | { role: 'user'; content: string | ContentPart[] }
  /** `thought` is what the model thought before these calls; it goes nowhere but back to an engine that insists on it. */
  | { role: 'assistant'; content: string; toolCalls?: ToolCall[]; thought?: string }
  | { role: 'tool'; callId: string; content: string };

export interface ToolDeclaration {
  name: string;
  description: string;
  /** A JSON schema of type `object`. */
  parameters: Readonly<Record<string, unknown>>;
}

/** What a question waits for: its turn at a busy engine, a service that cannot be reached, or a model that loads. */
export type WaitReason = 'capacity' | 'reach' | 'loading';

/** How long a question may wait for the service. Times are on the monotonic clock. */
export interface Patience {
  /** When the question was asked: older questions go first. */
  askedAtMs: number;
  untilMs: number;
  /** Told when it begins to wait, and when the reason changes. Must not throw or wait. */
  waits(reason: WaitReason): void;
}

export interface ChatRequest {
  model: string;
  /** Asked instead when the model rests or fails before anything was said; it must be able to answer the same messages. */
  fallbackModel?: string;
  messages: readonly ChatMessage[];
  tools?: readonly ToolDeclaration[];
  /** The service's own default when absent. */
  thinking?: Thinking;
  /** A pseudonym of the account that asks, for a service that wants one. */
  user?: string;
  /** What the call is done for, in log lines and told to the service as `X-Request-Id`: a message's delivery id. */
  trace?: string;
  /** Where the answer's text is cut, for the reason `length`, when that is below the client's own limit. */
  maxAnswerChars?: number;
  /** Whether the answer comes as it grows (default) or in one piece. The events are the same. */
  stream?: boolean;
  /** Lets the request wait for the service instead of failing. Without it a call ends after its tries. */
  patience?: Patience;
  /** Told once the service has begun to answer, which is before its first word. Must not throw or wait. */
  began?(): void;
}

/**
 * Why an answer ended. `other`: for a reason that the service did not explain in known words; the answer is whole.
 * `truncated`: the connection ended first; the text so far is all there is. `length`: the model's limit or ours.
 */
export type EndReason = 'stop' | 'length' | 'tool_calls' | 'content_filter' | 'other' | 'truncated';

/** An answer in the order in which it is said. `end` comes once and last; without it a ChatError is thrown. */
export type ChatEvent =
  /** The fallback is asked, since the model is away. Comes first, or not at all. */
  | { type: 'fallback'; model: string }
  | { type: 'text'; delta: string }
  /** All text of this answer so far was a thought, without a mark at its beginning: it is no part of the answer. */
  | { type: 'retract' }
  /** Chain of thought. Never shown or stored unless a setting says so (SECURITY.md thoughts-hidden). */
  | { type: 'reasoning'; delta: string }
  /** A whole call: emitted after all of its pieces have come, never from a truncated answer. */
  | ({ type: 'tool-call'; index: number } & ToolCall)
  /** The service's own estimate. Not every service sends it in streams. */
  | { type: 'usage'; promptTokens: number; completionTokens: number }
  | { type: 'end'; reason: EndReason };

type OfCall = Pick<ChatRequest, 'model' | 'trace'>;

/** What the client tells of each call, for counters; nothing in it comes from a message. */
export interface ChatReport {
  /**
   * One HTTP call ended. `outcome` is `complete`, `truncated`, or the error's code; `firstEventMs` is absent when
   * nothing was said.
   */
  callEnded(call: OfCall & { outcome: string; durationMs: number; firstEventMs?: number }): void;
  /** A call is about to be repeated after a pause. */
  retried(retry: OfCall & { code: string; waitMs: number }): void;
  /** A question got its turn, or gave up, after a wait. */
  waited(wait: OfCall & { reason: WaitReason; waitMs: number }): void;
  /** The concurrency that the engine of this model was seen to serve changed; 0 for no limit. */
  limitChanged(change: { model: string; limit: number }): void;
  breakerChanged(change: { model: string; state: 'open' | 'half-open' | 'closed' }): void;
  /** The fallback model answers, since the one that was asked could not; `code` says why. */
  fellBack(event: OfCall & { fallback: string; code: string }): void;
  /** The service gave a finish reason that this version does not know; the answer counts as whole. */
  unknownFinishReason(answer: OfCall): void;
}

/** Takes an answer's events in their order, each in the step in which its bytes came. Must not wait. */
export type OnChatEvent = (event: ChatEvent) => void;

export interface ChatClient {
  /**
   * Asks for an answer and hands it on as it is said. The signal frees the connection at once, and so does an error of
   * the listener's. Retries happen only before the first event (SECURITY.md no-second-beginning).
   * @returns after the `end` event. @throws ChatError; what was handed on until then stays valid, unfinished
   */
  stream(request: ChatRequest, signal: AbortSignal, onEvent: OnChatEvent): Promise<void>;
  /** The names of the service's models, or undefined where it has no list. @throws ChatError */
  listModels(signal?: AbortSignal): Promise<string[] | undefined>;
  /** The same client, connections and all, for models that are described otherwise. */
  knowing(catalog: ModelCatalog): ChatClient;
  /** Closes the connections; open answers break off. */
  close(): Promise<void>;
}
