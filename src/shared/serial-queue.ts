/**
 * Runs few tasks at once; one that fails does not hold up the next. Owners take turns, each with its own in the order in which
 * they came, so that the many tasks of one do not hold up another's.
 */
export class SerialQueue {
  readonly #width: number;
  readonly #widthOfOne: number;
  /** Tasks that wait, by owner; whose turn comes next stands first. */
  readonly #waiting = new Map<string, (() => void)[]>();
  readonly #running = new Map<string, number>();

  /** @param width how many run at once @param widthOfOne how many of one owner; as many unless told */
  constructor(width: number, widthOfOne = width) {
    this.#width = width;
    this.#widthOfOne = widthOfOne;
  }

  /** How many have come and have not ended. */
  get unfinished(): number {
    return this.#runningNow + [...this.#waiting.values()].reduce((sum, { length }) => sum + length, 0);
  }

  get #runningNow(): number {
    return [...this.#running.values()].reduce((sum, count) => sum + count, 0);
  }

  /** @param owner whose task it is */
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

  /** The place goes to the next at once, so that nobody who comes between takes it. */
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
