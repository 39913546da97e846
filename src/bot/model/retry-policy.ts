import { SECOND_MS, type NowMs } from '../../shared/clock.ts';
import type { ChatError } from './chat-error.ts';
import type { ChatLimits } from './chat-limits.ts';

/** Retry budget of an idle client, so that the first failures of a day can be retried too. */
const RESERVE = 10;
/** Time without traffic in which the reserve regains one retry. */
const RESERVE_REFILL_MS = 10 * SECOND_MS;

export interface RetryPolicyOptions {
  monotonicMs: NowMs;
  limits: Pick<ChatLimits, 'maxTries' | 'retryBaseMs' | 'retryCapMs' | 'maxRetryAfterMs' | 'retryShare'>;
  /** 0 ≤ x < 1. */
  random: () => number;
}

/**
 * Decides whether and when a failed call is repeated (SECURITY.md bounded-retries): few attempts, full jitter, the service's
 * own `Retry-After`, and a budget shared by all calls that limits retries to a tenth of the traffic during an outage.
 */
export class RetryPolicy {
  readonly #options: RetryPolicyOptions;
  #budget = RESERVE;
  #refilledAtMs: number;

  constructor(options: RetryPolicyOptions) {
    this.#options = options;
    this.#refilledAtMs = options.monotonicMs();
  }

  /** Adds the share of a new call (not a retry) to the budget. */
  earn(): void {
    this.#budget = Math.min(RESERVE, this.#budget + this.#options.limits.retryShare);
  }

  /** @param tries attempts so far @returns the pause before the next attempt, or undefined to give up */
  pauseBeforeRetry(error: ChatError, tries: number): number | undefined {
    const { limits, random } = this.#options;
    if (!error.isRetryable || tries >= limits.maxTries) return undefined;
    if ((error.retryAfterMs ?? 0) > limits.maxRetryAfterMs) return undefined;
    if (!this.#spend()) return undefined;
    const jitterMs = random() * Math.min(limits.retryCapMs, limits.retryBaseMs * 2 ** (tries - 1));
    return Math.round(error.retryAfterMs === undefined ? jitterMs : Math.max(error.retryAfterMs, jitterMs));
  }

  /** A random pause between `pauseMs` and twice as long. */
  withJitter(pauseMs: number): number {
    return pauseMs * (1 + this.#options.random());
  }

  /** Returns the budget of a retry that was not made, because the call only waits for its engine. */
  giveBack(): void {
    this.#budget = Math.min(RESERVE, this.#budget + 1);
  }

  #spend(): boolean {
    const nowMs = this.#options.monotonicMs();
    const elapsedMs = nowMs - this.#refilledAtMs;
    this.#budget = Math.min(RESERVE, this.#budget + elapsedMs / RESERVE_REFILL_MS);
    this.#refilledAtMs = nowMs;
    if (this.#budget < 1) return false;
    this.#budget -= 1;
    return true;
  }
}
