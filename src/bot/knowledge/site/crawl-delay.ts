import { setTimeout as sleep } from 'node:timers/promises';
import { monotonicMs } from '../../../shared/clock.ts';

/** Enforces the delay between two requests to a site. */
export class RequestPacer {
  /** Milliseconds. The site's crawl delay may increase it. */
  pauseMs: number;
  #restedMs = -Infinity;

  constructor(pauseMs: number) {
    this.pauseMs = pauseMs;
  }

  /** Waits for the delay, then makes the request. @throws the request's error; the signal's reason */
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
