import { setTimeout as sleep } from 'node:timers/promises';
import { monotonicMs } from '../../../shared/clock.ts';

/** Keeps the pause between two requests to a site. */
export class Pace {
  /** Milliseconds; what a site asks for may lengthen it. */
  pauseMs: number;
  #restedMs = -Infinity;

  constructor(pauseMs: number) {
    this.pauseMs = pauseMs;
  }

  /** Makes one request when it is time. @throws what it throws; the signal's reason */
  async next<Answer>(request: () => Promise<Answer>, signal: AbortSignal): Promise<Answer> {
    await this.wait(this.#restedMs + this.pauseMs - monotonicMs(), signal);
    try {
      return await request();
    } finally {
      this.#restedMs = monotonicMs();
    }
  }

  /** @throws the signal's reason */
  async wait(waitMs: number, signal: AbortSignal): Promise<void> {
    if (waitMs > 0) await sleep(waitMs, undefined, { signal, ref: false }).catch(() => undefined);
    signal.throwIfAborted();
  }
}
