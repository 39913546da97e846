import { SECOND_MS } from '../../shared/clock.ts';
import { silentForMs, type RedisClient } from '../../shared/redis/redis.ts';
import { TooSlowError, withTimeout } from '../../shared/with-timeout.ts';

/** A command without a response for this long is given up, unless Redis still answers other commands. */
const PATIENCE_MS = 1.5 * SECOND_MS;
/** A Redis that was silent for this long hangs. */
const HANGS_AFTER_MS = 0.5 * SECOND_MS;
/** Time for the response to reach the platform. */
const MARGIN_MS = 0.5 * SECOND_MS;
const RETRY_PAUSE_MS = 100;

/**
 * Time limit for storing a delivery or reading its reply before the receiver answers 503 (SECURITY.md
 * acknowledged-when-stored). A Redis that hangs is given up early, so that the platform repeats the delivery soon. One that is
 * only slow gets the time that the platform waits. The libraries' own limits do not cover a connection that was never made. A
 * late result is dropped, which is harmless because deliveries can be repeated.
 */
export class DeliveryDeadline {
  readonly #redis: RedisClient;
  readonly #endsAtMs: number;

  /** @param startedMs when the delivery arrived, by `performance.now()` */
  constructor(redis: RedisClient, { responseDeadlineMs }: { responseDeadlineMs: number }, startedMs: number) {
    this.#redis = redis;
    this.#endsAtMs = startedMs + responseDeadlineMs - MARGIN_MS;
  }

  /** @throws TooSlowError */
  async within<Result>(work: Promise<Result>): Promise<Result> {
    try {
      return await withTimeout(work, Math.min(PATIENCE_MS, this.#leftMs()));
    } catch (error) {
      const leftMs = this.#leftMs();
      if (!(error instanceof TooSlowError) || leftMs <= 0 || silentForMs(this.#redis) > HANGS_AFTER_MS) throw error;
      return withTimeout(work, leftMs);
    }
  }

  /** Retries what Redis refuses, because not every platform is certain to repeat a delivery after a 503. */
  retry<Result>(action: () => Promise<Result>): Promise<Result> {
    const giveUpAtMs = performance.now() + Math.min(PATIENCE_MS, this.#leftMs());
    const attempts = action().catch(async (error: unknown) => {
      for (;;) {
        if (performance.now() + RETRY_PAUSE_MS >= giveUpAtMs) throw error;
        await new Promise((resolve) => setTimeout(resolve, RETRY_PAUSE_MS));
        try {
          return await action();
        } catch {
          // Retried until the deadline.
        }
      }
    });
    return this.within(attempts);
  }

  #leftMs(): number {
    return this.#endsAtMs - performance.now();
  }
}
