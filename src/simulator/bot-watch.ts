import { setTimeout as pause } from 'node:timers/promises';
import type { Log } from '../shared/log.ts';
import type { MessengerContext, Protocol } from './protocol.ts';

/** Two consecutive failures: a single slow response of a busy machine does not count. */
const FAILURES_TO_BE_AWAY = 2;

/** Verifies the bot's address repeatedly: often while it is unreachable, occasionally while it is reachable. */
export class BotWatch {
  readonly #side: Pick<MessengerContext, 'hub' | 'timing' | 'background'>;
  readonly #protocol: Protocol;
  readonly #log: Log;
  #isReachable = false;

  constructor(side: Pick<MessengerContext, 'hub' | 'timing' | 'background'>, protocol: Protocol, log: Log) {
    this.#side = side;
    this.#protocol = protocol;
    this.#log = log;
  }

  get isReachable(): boolean {
    return this.#isReachable;
  }

  /** Runs until the signal aborts. */
  async run(): Promise<void> {
    const { timing, background } = this.#side;
    const { signal } = background;
    let failures = 0;
    for (;;) {
      const isThere = await this.#protocol.verifyBot();
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
    this.#log.info({ isReachable }, isReachable ? 'the bot verified its address' : 'the bot is unavailable');
    const { hub, background } = this.#side;
    hub.publishToAll({ name: 'bot', data: { reachable: isReachable } });
    if (!isReachable) return;
    const told = this.#protocol.onBotReconnected();
    told.catch((error: unknown) => background.failed(error, 'the opening of chats could not be delivered to the bot'));
  }
}
