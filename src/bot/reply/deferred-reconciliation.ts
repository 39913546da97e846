import { setTimeout as pause } from 'node:timers/promises';
import { monotonicMs } from '../../shared/clock.ts';
import { asError } from '../../shared/coded-error.ts';
import { inBackground } from '../../shared/in-background.ts';
import type { Log } from '../../shared/log.ts';
import { endedInTime } from './turn-abort.ts';

/** Maximum answers waiting for reconciliation. A platform that leaves more posts uncertain is down. */
const MAX_WAITING = 1_000;

/**
 * Deferred work on delivered answers, run once the platform can no longer carry out calls that timed out here. An orderly
 * stop finishes the work first; a killed process loses it, which only matters if the platform was also late.
 */
export class DeferredReconciliation {
  readonly #due = new Map<NodeJS.Timeout, Care>();
  readonly #log: Log;

  constructor(log: Log) {
    this.#log = log;
  }

  /** Runs the work once after the delay, or earlier at a stop. Milliseconds. */
  later(delayMs: number, work: () => Promise<void>): void {
    if (this.#due.size >= MAX_WAITING) return;
    const timer = setTimeout(() => inBackground(() => this.#do(timer)), delayMs);
    timer.unref();
    this.#due.set(timer, { dueMs: monotonicMs() + delayMs, work });
  }

  /**
   * Runs the remaining work when it is due, or as late as this stop allows, because until then the platform may still carry
   * out a call.
   * @param withinMs maximum time that the stop may wait before it starts the work
   */
  async close(withinMs: number): Promise<void> {
    const untilMs = monotonicMs() + withinMs;
    const doInTime = async ([timer, { dueMs }]: [NodeJS.Timeout, Care]) => {
      await pause(Math.max(0, Math.min(dueMs, untilMs) - monotonicMs()));
      await endedInTime(this.#do(timer));
    };
    await Promise.all([...this.#due].map(doInTime));
  }

  async #do(timer: NodeJS.Timeout): Promise<void> {
    const care = this.#due.get(timer);
    clearTimeout(timer);
    this.#due.delete(timer);
    await care?.work().catch((thrown: unknown) => {
      this.#log.warn({ error: asError(thrown) }, 'an answer could not be reconciled');
    });
  }
}

interface Care {
  /** Due time on the monotonic clock. */
  dueMs: number;
  work: () => Promise<void>;
}
