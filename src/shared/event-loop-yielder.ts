import { setImmediate as nextRound } from 'node:timers/promises';
import { monotonicMs } from './clock.ts';

/** Maximum time to work before yielding to the event loop. */
const WORK_MS = 5;

/** Lets long-running work yield to the event loop. */
export class EventLoopYielder {
  #sinceMs = monotonicMs();

  /** Whether `take` is due. */
  get isDue(): boolean {
    return monotonicMs() - this.#sinceMs >= WORK_MS;
  }

  async yieldNow(): Promise<void> {
    await nextRound();
    this.#sinceMs = monotonicMs();
  }
}
