import { setTimeout as pause } from 'node:timers/promises';
import type { Log } from '../shared/log.ts';
import type { Timing } from './timing.ts';

export interface BotWatchOptions {
  /** Whether the bot proves at its address that it has the platform's keys. */
  verify(): Promise<boolean>;
  timing: Timing;
  log: Log;
  signal: AbortSignal;
  /** Called whenever the bot becomes reachable or unreachable. */
  onChange(isReachable: boolean): void;
}

/** Two consecutive failures: a single slow response of a busy machine does not count. */
const FAILURES_TO_BE_AWAY = 2;

/** Verifies the bot's address repeatedly: often while it is unreachable, occasionally while it is reachable. */
export class BotWatch {
  readonly #options: BotWatchOptions;
  #isReachable = false;

  constructor(options: BotWatchOptions) {
    this.#options = options;
  }

  get isReachable(): boolean {
    return this.#isReachable;
  }

  /** Runs until the signal aborts. */
  async run(): Promise<void> {
    const { verify, timing, signal } = this.#options;
    let failures = 0;
    for (;;) {
      const isThere = await verify();
      if (signal.aborted) return;
      failures = isThere ? 0 : failures + 1;
      if (isThere || failures >= FAILURES_TO_BE_AWAY) this.#set(isThere);
      const pauseMs = isThere ? timing.watchThereMs : timing.watchAwayMs;
      await pause(pauseMs, undefined, { signal }).catch(() => undefined);
    }
  }

  #set(isReachable: boolean): void {
    if (this.#isReachable === isReachable) return;
    this.#isReachable = isReachable;
    this.#options.log.info({ isReachable }, isReachable ? 'the bot verified its address' : 'the bot is unavailable');
    this.#options.onChange(isReachable);
  }
}
