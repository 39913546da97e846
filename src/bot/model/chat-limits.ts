import { MIB_BYTES, MINUTE_MS, SECOND_MS } from '../../shared/clock.ts';
import { ENGINE_TIMES } from '../../shared/models/engine-times.ts';

/**
 * Time and size limits of a chat call.
 * The defaults are those of SECURITY.md bounded-retries, chat-time-limits, circuit-breaker.
 */
export interface ChatLimits {
  /** Timeout for establishing a connection. */
  connectMs: number;
  /** Timeout from sending the request to the first byte of the response. */
  firstByteMs: number;
  /**
   * The same for a model with reasoning, and for a response that is not streamed and therefore arrives only when complete.
   */
  firstByteThinkingMs: number;
  /** Timeout between two chunks of the answer; keep-alive comments count as chunks. */
  idleMs: number;
  /** Maximum time that a question waits for an unreachable service. */
  awayMs: number;
  /** Maximum time that a question waits for its own model if a fallback is available. */
  fallbackAfterMs: number;
  /** Time without response headers after which the user is told that the model is loading. */
  loadingHintMs: number;
  /** Maximum duration of the call including retries, excluding waits for capacity. */
  totalMs: number;
  /** Maximum time that the connection stays open after the finish reason, for the usage and `[DONE]`. */
  afterFinishMs: number;
  /** Maximum response size on the wire. */
  maxAnswerBytes: number;
  /** Maximum length of the answer text. A longer text is cut there and ends with the reason `length`. */
  maxAnswerChars: number;
  /** Maximum length of one stream line and of one event. */
  maxLineChars: number;
  maxTries: number;
  /** Upper bound of the random pause before the first retry; it doubles with each retry. */
  retryBaseMs: number;
  retryCapMs: number;
  /** A longer `Retry-After` is returned to the caller instead of waited for. */
  maxRetryAfterMs: number;
  /** Long-term maximum of retries per call. */
  retryShare: number;
  breakerWindowMs: number;
  /** Minimum calls in the window before the breaker can open. */
  breakerMinCalls: number;
  breakerFailureShare: number;
  /** Time after which an open breaker lets one call through. It doubles with each call that fails, to `breakerProbeMs`. */
  breakerFirstProbeMs: number;
  /** Upper bound of that time; it applies at once when the service refuses the key or the balance. */
  breakerProbeMs: number;
}

export const DEFAULT_CHAT_LIMITS: ChatLimits = {
  connectMs: 5 * SECOND_MS,
  firstByteMs: ENGINE_TIMES.firstByteMs,
  firstByteThinkingMs: 120 * SECOND_MS,
  idleMs: ENGINE_TIMES.idleMs,
  awayMs: 2 * MINUTE_MS,
  fallbackAfterMs: 5 * SECOND_MS,
  loadingHintMs: 10 * SECOND_MS,
  totalMs: 5 * MINUTE_MS,
  afterFinishMs: 2 * SECOND_MS,
  maxAnswerBytes: 8 * MIB_BYTES,
  maxAnswerChars: 200_000,
  maxLineChars: MIB_BYTES,
  maxTries: 3,
  retryBaseMs: SECOND_MS / 2,
  retryCapMs: 8 * SECOND_MS,
  maxRetryAfterMs: 30 * SECOND_MS,
  retryShare: 0.1,
  breakerWindowMs: 30 * SECOND_MS,
  breakerMinCalls: 20,
  breakerFailureShare: 0.5,
  breakerFirstProbeMs: SECOND_MS,
  breakerProbeMs: 10 * SECOND_MS,
};
