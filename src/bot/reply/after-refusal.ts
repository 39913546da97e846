import { SECOND_MS } from '../../shared/clock.ts';
import type { ReplyTraits } from '../platforms/platform.ts';
import type { Refusal } from '../platforms/write-meaning.ts';

const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 2 * SECOND_MS;
/** Maximum pause between tries of a growing answer whose snapshots are refused. */
const MAX_GROWING_PAUSE_MS = 5 * SECOND_MS;

/** Next step after a refusal of an answer's last snapshot. `replace`: post it as a new message. */
export type AfterRefusal = { next: 'again'; pauseMs: number } | { next: 'replace' } | { next: 'give-up' };

/**
 * Decides the next step after refusals of one message of an answer (RELIABILITY.md refused-writes). A temporary
 * refusal is retried for a while; a permanent one makes the reply replace the message at once. If the platform also
 * refuses the new message for good, this gives up and leaves the reply to the other ways.
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

  /** @param hasMessage whether an existing message refused the snapshot; otherwise the platform refused a new message */
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

/** Pause of a growing answer after this many refused snapshots in a row. Milliseconds; undefined for the usual pause. */
export function pauseAfterRefused(inARow: number): number | undefined {
  return inARow <= 1 ? undefined : Math.min(MAX_GROWING_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(inARow, 10));
}
