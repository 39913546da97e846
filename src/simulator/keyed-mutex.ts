/** Runs tasks with the same key one after another, in order; different keys do not wait for each other. */
export class KeyedMutex {
  readonly #last = new Map<string, Promise<unknown>>();

  run<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    const before = this.#last.get(key) ?? Promise.resolve();
    const running = before.then(work, work);
    this.#last.set(key, running);
    const forget = () => {
      if (this.#last.get(key) === running) this.#last.delete(key);
    };
    running.then(forget, forget);
    return running;
  }

  /** Resolves once nothing is running. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#last.values());
  }
}
