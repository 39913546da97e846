import { MIB_BYTES, MINUTE_MS, SECOND_MS } from '../../shared/clock.ts';
import { ENGINE_TIMES } from '../../shared/models/engine-times.ts';

/** How long and how much a chat call may take. The defaults are those of SECURITY.md bounded-retries, chat-time-limits, circuit-breaker. */
export interface ChatLimits {
  /** For a connection to be made. */
  connectMs: number;
  /** From sending until the answer's first byte. */
  firstByteMs: number;
  /** The same while the model thinks, and for an answer that is not streamed: it comes only when it is whole. */
  firstByteThinkingMs: number;
  /** Between two pieces of the answer; keep-alive comments count as pieces. */
  idleMs: number;
  /** How long a question waits for a service that cannot be reached. */
  awayMs: number;
  /** How long a question waits for its own model where another model may answer it. */
  fallbackAfterMs: number;
  /** Without headers for this long, a person is told that the model is loading. */
  loadingHintMs: number;
  /** For the whole call with its retries, without waits for capacity. */
  totalMs: number;
  /** How long the connection may stay open after the finish reason, for the usage and `[DONE]`. */
  afterFinishMs: number;
  /** Size of an answer as it comes over the wire. */
  maxAnswerBytes: number;
  /** Length of the answer's text; a longer one is cut there and ends for the reason `length`. */
  maxAnswerChars: number;
  /** Length of one line of the stream and of one event. */
  maxLineChars: number;
  maxTries: number;
  /** Upper end of the first random pause before a retry; it doubles with each. */
  retryBaseMs: number;
  retryCapMs: number;
  /** A longer `Retry-After` is passed on instead of waited for. */
  maxRetryAfterMs: number;
  /** Retries per call that the client allows itself on the long run. */
  retryShare: number;
  breakerWindowMs: number;
  /** Fewer calls than this in the window never open the breaker. */
  breakerMinCalls: number;
  breakerFailureShare: number;
  /** After how long an open breaker lets one call through. */
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
  breakerProbeMs: 10 * SECOND_MS,
};
