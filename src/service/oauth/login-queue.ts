import { availableParallelism } from 'node:os';
import { Fifo } from '../../shared/fifo.ts';
import { PageError } from './sign-in-errors.ts';

/**
 * Passwords that are looked at together in one process. Each takes a thread for as long as its hash costs; Node has four for
 * such work, and names are looked up and files read by them too.
 */
const MOST_AT_ONCE = Math.min(3, Math.max(2, availableParallelism() - 1));
/** Passwords that wait. More could not be looked at within a time that a person waits. */
const MOST_WAITING = 500;

/** Lets a few logins through at a time; those of browsers that are known go first. */
export class LoginQueue {
  readonly #mostWaiting: number;
  readonly #known = new Fifo<() => void>();
  readonly #others = new Fifo<() => void>();
  #running = 0;

  constructor(mostWaiting = MOST_WAITING) {
    this.#mostWaiting = mostWaiting;
  }

  /** @throws PageError `busy` when too many wait; and whatever `work` throws */
  async run<Result>(isKnown: boolean, work: () => Promise<Result>): Promise<Result> {
    await this.#enter(isKnown ? this.#known : this.#others);
    try {
      return await work();
    } finally {
      const next = this.#known.shift() ?? this.#others.shift();
      if (next) next();
      else this.#running -= 1;
    }
  }

  async #enter(line: Fifo<() => void>): Promise<void> {
    if (this.#running >= MOST_AT_ONCE) {
      if (line.size >= this.#mostWaiting)
        throw new PageError('busy', 'Too many passwords wait to be looked at', { retryAfterSec: 10 });
      // Whoever ends hands its place on.
      return new Promise((start) => line.push(start));
    }
    this.#running += 1;
  }
}
