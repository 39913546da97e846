/** Runs few tasks at once, in the order in which they came; one that fails does not hold up the next. */
export class TaskLane {
  readonly #width: number;
  readonly #queue: (() => void)[] = [];
  #running = 0;

  /** @param width how many run at once */
  constructor(width: number) {
    this.#width = width;
  }

  /** How many have come and have not ended. */
  get unfinished(): number {
    return this.#running + this.#queue.length;
  }

  async run<Result>(task: () => Promise<Result>): Promise<Result> {
    if (this.#running >= this.#width) await new Promise<void>((start) => this.#queue.push(start));
    else this.#running += 1;
    try {
      return await task();
    } finally {
      // The place goes to the next at once, so that nobody who comes between takes it.
      const next = this.#queue.shift();
      if (next) next();
      else this.#running -= 1;
    }
  }
}
