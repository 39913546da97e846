import { setImmediate as nextRound } from 'node:timers/promises';
import { monotonicMs } from './clock.ts';

/** So long at most is worked without looking whether somebody asks. */
const WORK_MS = 5;

/** Lets long work be interrupted by whatever else the process has to do. */
export class Breath {
  #sinceMs = monotonicMs();

  /** Whether it is time to `take` one. */
  get isDue(): boolean {
    return monotonicMs() - this.#sinceMs >= WORK_MS;
  }

  async take(): Promise<void> {
    await nextRound();
    this.#sinceMs = monotonicMs();
  }
}
