import type { Log } from '../base/log.ts';
import { inBackground } from '../base/in-background.ts';

/** More answers than this are not looked after at once; a platform that makes so many doubtful is down. */
const MOST_WAITING = 1_000;

/**
 * What is still to be done for answers that stand, once the platform can no longer carry out what was given up. It dies with the process: it
 * only matters where a platform was late and a process ended besides.
 */
export class AfterCare {
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #log: Log;

  constructor(log: Log) {
    this.#log = log;
  }

  /** Does the work after so long, once. Milliseconds. */
  later(delayMs: number, work: () => Promise<void>): void {
    if (this.#timers.size >= MOST_WAITING) return;
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      inBackground(work, (error) => this.#log.warn({ error }, 'an answer could not be looked after'));
    }, delayMs);
    timer.unref();
    this.#timers.add(timer);
  }

  close(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
  }
}
