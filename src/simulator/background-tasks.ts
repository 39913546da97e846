import type { BackgroundWork } from './protocol.ts';

/** Work that is not awaited where it starts, and must have ended before the messenger has stopped. */
export class BackgroundTasks {
  readonly #background: BackgroundWork;
  readonly #pending = new Set<Promise<void>>();

  constructor(background: BackgroundWork) {
    this.#background = background;
  }

  /** @param failure a sentence for the log */
  add(work: Promise<unknown>, failure: string): void {
    const guarded: Promise<void> = work
      .then(
        () => undefined,
        (error: unknown) => this.#background.failed(error, failure),
      )
      .finally(() => this.#pending.delete(guarded));
    this.#pending.add(guarded);
  }

  /** Resolves once no work is in progress (after the signal was aborted). */
  async settled(): Promise<void> {
    await Promise.all(this.#pending);
  }
}
