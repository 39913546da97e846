import { SECOND_MS, type NowMs } from '../../shared/clock.ts';
import type { ChatError } from './chat-error.ts';
import type { ChatLimits } from './chat-limits.ts';

/** Retries that a quiet client has in hand, so that the first failures of a day are bridged too. */
const RESERVE = 10;
/** How fast the reserve comes back without traffic. */
const RESERVE_REFILL_MS = 10 * SECOND_MS;

export interface RetryPolicyOptions {
  monotonicMs: NowMs;
  limits: Pick<ChatLimits, 'maxTries' | 'retryBaseMs' | 'retryCapMs' | 'maxRetryAfterMs' | 'retryShare'>;
  /** 0 ≤ x < 1. */
  random: () => number;
}

/**
 * Whether and when a failed call is repeated (SECURITY.md bounded-retries): few tries, full jitter, the service's own `Retry-After`,
 * and a budget that all calls share: in an outage retries stay a tenth of the traffic.
 */
export class RetryPolicy {
  readonly #options: RetryPolicyOptions;
  #budget = RESERVE;
  #refilledAtMs: number;

  constructor(options: RetryPolicyOptions) {
    this.#options = options;
    this.#refilledAtMs = options.monotonicMs();
  }

  /** Notes a new call (not a retry): it earns its share of the budget. */
  earn(): void {
    this.#budget = Math.min(RESERVE, this.#budget + this.#options.limits.retryShare);
  }

  /** @param tries how often the call was tried so far @returns the pause before the next try, or undefined to give up */
  pauseBeforeRetry(error: ChatError, tries: number): number | undefined {
    const { limits, random } = this.#options;
    if (!error.isRetryable || tries >= limits.maxTries) return undefined;
    if ((error.retryAfterMs ?? 0) > limits.maxRetryAfterMs) return undefined;
    if (!this.#spend()) return undefined;
    const jitterMs = random() * Math.min(limits.retryCapMs, limits.retryBaseMs * 2 ** (tries - 1));
    return Math.round(error.retryAfterMs === undefined ? jitterMs : Math.max(error.retryAfterMs, jitterMs));
  }

  /** A pause between this long and twice as long. */
  withJitter(pauseMs: number): number {
    return pauseMs * (1 + this.#options.random());
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
