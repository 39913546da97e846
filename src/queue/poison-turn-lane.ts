/**
 * Lets one suspect at a time run in this process: a turn during which workers died more than once. A crash ends one
 * process with all that it holds, so the turn that kills is told from those that merely ran beside it when it is the only
 * suspect there (design: poison). Others wait here, unharmed by a crash, and follow at once.
 */
export class PoisonTurnLane {
  readonly #waiting: ((leave: (() => void) | undefined) => void)[] = [];
  #isTaken = false;
  #isClosed = false;

  /** Waits for its turn. @returns what lets the next one in; undefined when the process is stopping */
  enter(): Promise<(() => void) | undefined> {
    if (this.#isClosed) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      this.#letIn();
    });
  }

  /** Lets nobody in any more; the one that runs goes on. */
  close(): void {
    this.#isClosed = true;
    for (const refuse of this.#waiting.splice(0)) refuse(undefined);
  }

  #letIn(): void {
    if (this.#isTaken) return;
    const admit = this.#waiting.shift();
    if (!admit) return;
    this.#isTaken = true;
    admit(() => {
      this.#isTaken = false;
      this.#letIn();
    });
  }
}
