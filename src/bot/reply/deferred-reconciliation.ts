import { setTimeout as pause } from 'node:timers/promises';
import { monotonicMs } from '../../shared/clock.ts';
import { asError } from '../../shared/coded-error.ts';
import { inBackground } from '../../shared/in-background.ts';
import type { Log } from '../../shared/log.ts';
import { endedInTime } from './turn-abort.ts';

/** More answers than this are not looked after at once; a platform that makes so many doubtful is down. */
const MOST_WAITING = 1_000;

/**
 * What is still to be done for answers that stand, once the platform can no longer carry out what was given up. An orderly stop has
 * it done before it ends; it dies with a process that is killed, and only matters where a platform was late besides.
 */
export class AfterCare {
  readonly #due = new Map<NodeJS.Timeout, Care>();
  readonly #log: Log;

  constructor(log: Log) {
    this.#log = log;
  }

  /** Does the work after so long, once; sooner where the process is stopped before. Milliseconds. */
  later(delayMs: number, work: () => Promise<void>): void {
    if (this.#due.size >= MOST_WAITING) return;
    const timer = setTimeout(() => inBackground(() => this.#do(timer)), delayMs);
    timer.unref();
    this.#due.set(timer, { dueMs: monotonicMs() + delayMs, work });
  }

  /**
   * Does what is still to be done: when it is due, or as late as this stop lets it, since until then the platform may carry something
   * out. @param withinMs how long the stop may wait before it is begun
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
      this.#log.warn({ error: asError(thrown) }, 'an answer could not be looked after');
    });
  }
}

interface Care {
  /** By the monotonic clock. */
  dueMs: number;
  work: () => Promise<void>;
}
