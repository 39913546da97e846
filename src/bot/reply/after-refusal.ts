import { SECOND_MS } from '../../shared/clock.ts';
import type { ReplyTraits } from '../platforms/platform.ts';
import type { Refusal } from '../platforms/write-meaning.ts';

const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 2 * SECOND_MS;
/** Maximum pause between snapshots of a growing answer while the platform refuses them. */
const MAX_GROWING_PAUSE_MS = 5 * SECOND_MS;

/** Next step after the platform refused the final snapshot. `replace`: post it as a new message. */
export type AfterRefusal = { next: 'again'; pauseMs: number } | { next: 'replace' } | { next: 'give-up' };

/**
 * Decides the next step after refusals of one message of an answer (RELIABILITY.md refused-writes). A temporary refusal is
 * retried for a while; after a permanent one the reply posts a new message instead. If the platform also refuses that
 * message for good, the result is `give-up`, and the reply falls back to a file or a notice.
 */
export class RefusalRetryPolicy {
  readonly #passWithinMs: number;
  readonly #nowMs: () => number;
  #sinceMs: number | undefined;
  #inARow = 0;

  /** @param nowMs a monotonic clock */
  constructor({ refusalsPassWithinMs }: Pick<ReplyTraits, 'refusalsPassWithinMs'>, nowMs: () => number) {
    this.#passWithinMs = refusalsPassWithinMs;
    this.#nowMs = nowMs;
  }

  /** @param hasMessage true if an existing message refused the snapshot; false if the platform refused a new message */
  after(why: Refusal, hasMessage: boolean): AfterRefusal {
    this.#sinceMs ??= this.#nowMs();
    const isWindowOver = this.#nowMs() - this.#sinceMs >= this.#passWithinMs;
    if (hasMessage && (isWindowOver || why === 'method' || why === 'snapshot')) {
      this.#sinceMs = undefined;
      return { next: 'replace' };
    }
    if (isWindowOver) return { next: 'give-up' };
    const pauseMs = Math.min(MAX_PAUSE_MS, this.#passWithinMs, FIRST_PAUSE_MS * 2 ** Math.min(this.#inARow, 10));
    this.#inARow += 1;
    return { next: 'again', pauseMs };
  }
}

const FIRST_WAIT_MS = 50;
const MAX_WAIT_MS = 15 * SECOND_MS;

/**
 * Pauses before the next attempt to show a final snapshot. They grow while the platform does not answer or is busy, and are
 * as short as asked for once it answers.
 */
export class RetryPauses {
  #failures = 0;

  /** @returns milliseconds */
  after({ pauseMs, why }: { pauseMs: number; why: string }): number {
    if (why === 'settling') {
      this.#failures = 0;
      return pauseMs;
    }
    const growingMs = Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(this.#failures, 10));
    this.#failures += 1;
    return Math.max(pauseMs, growingMs);
  }
}

/** Pause of a growing answer after this many refused snapshots in a row. Milliseconds; undefined for the default pause. */
export function pauseAfterRefused(inARow: number): number | undefined {
  return inARow <= 1 ? undefined : Math.min(MAX_GROWING_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(inARow, 10));
}
