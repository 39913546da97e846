/**
 * Runs a limited number of tasks concurrently. A failed task does not affect the next. Owners take turns, and each owner's
 * tasks run in order, so that one owner's many tasks do not delay another's.
 */
export class SerialQueue {
  readonly #width: number;
  readonly #widthOfOne: number;
  /** Waiting tasks by owner, in the order of turns. */
  readonly #waiting = new Map<string, (() => void)[]>();
  readonly #running = new Map<string, number>();

  /** @param width maximum concurrent tasks @param widthOfOne maximum concurrent tasks per owner; defaults to `width` */
  constructor(width: number, widthOfOne = width) {
    this.#width = width;
    this.#widthOfOne = widthOfOne;
  }

  /** Number of waiting and running tasks. */
  get unfinished(): number {
    return this.#runningNow + [...this.#waiting.values()].reduce((sum, { length }) => sum + length, 0);
  }

  get #runningNow(): number {
    return [...this.#running.values()].reduce((sum, count) => sum + count, 0);
  }

  /** @param owner of the task */
  async run<Result>(owner: string, task: () => Promise<Result>): Promise<Result> {
    if (!this.#mayStart(owner)) await this.#wait(owner);
    else this.#count(owner, 1);
    try {
      return await task();
    } finally {
      this.#count(owner, -1);
      this.#startNext();
    }
  }

  #mayStart(owner: string): boolean {
    return this.#runningNow < this.#width && (this.#running.get(owner) ?? 0) < this.#widthOfOne;
  }

  #wait(owner: string): Promise<void> {
    const line = this.#waiting.get(owner) ?? [];
    this.#waiting.set(owner, line);
    return new Promise((start) => line.push(start));
  }

  /** Assigns the free slot to the next task immediately, so that a new task cannot take it. */
  #startNext(): void {
    for (const [owner, line] of this.#waiting) {
      if (!this.#mayStart(owner)) continue;
      this.#waiting.delete(owner);
      const start = line.shift();
      if (line.length > 0) this.#waiting.set(owner, line);
      this.#count(owner, 1);
      start?.();
      return;
    }
  }

  #count(owner: string, change: 1 | -1): void {
    const count = (this.#running.get(owner) ?? 0) + change;
    if (count === 0) this.#running.delete(owner);
    else this.#running.set(owner, count);
  }
}
