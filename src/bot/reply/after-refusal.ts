import { SECOND_MS } from '../../shared/clock.ts';
import type { ReplyTraits } from '../platforms/platform.ts';
import type { Refusal } from '../platforms/write-meaning.ts';

const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 2 * SECOND_MS;
/** A growing answer whose snapshots are refused is tried at least this often. */
const MAX_GROWING_PAUSE_MS = 5 * SECOND_MS;

/** What follows a refusal of an answer's last snapshot. `replace`: it is posted as a new message. */
export type AfterRefusal = { next: 'again'; pauseMs: number } | { next: 'replace' } | { next: 'give-up' };

/**
 * Decides what follows the refusals of one message of an answer (RELIABILITY.md refused-writes): what may pass is tried again for a
 * while, what cannot is replaced by a new message at once, and a new message that is refused for good leaves the other ways.
 */
export class Refusals {
  readonly #passWithinMs: number;
  readonly #nowMs: () => number;
  #sinceMs: number | undefined;
  #inARow = 0;

  /** @param nowMs a monotonic clock */
  constructor({ refusalsPassWithinMs }: Pick<ReplyTraits, 'refusalsPassWithinMs'>, nowMs: () => number) {
    this.#passWithinMs = refusalsPassWithinMs;
    this.#nowMs = nowMs;
  }

  /** @param hasMessage whether a message stands that refused the snapshot; otherwise a new message was refused */
  after(why: Refusal, hasMessage: boolean): AfterRefusal {
    this.#sinceMs ??= this.#nowMs();
    const hasPassed = this.#nowMs() - this.#sinceMs >= this.#passWithinMs;
    if (hasMessage && (hasPassed || why === 'way' || why === 'snapshot')) {
      this.#sinceMs = undefined;
      return { next: 'replace' };
    }
    if (hasPassed) return { next: 'give-up' };
    const pauseMs = Math.min(MAX_PAUSE_MS, this.#passWithinMs, FIRST_PAUSE_MS * 2 ** Math.min(this.#inARow, 10));
    this.#inARow += 1;
    return { next: 'again', pauseMs };
  }
}

/** How long a growing answer waits after its snapshots were refused so often in a row. Milliseconds; undefined: no longer than usual. */
export function pauseAfterRefused(inARow: number): number | undefined {
  return inARow <= 1 ? undefined : Math.min(MAX_GROWING_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(inARow, 10));
}
