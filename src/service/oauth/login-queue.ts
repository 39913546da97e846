import { availableParallelism } from 'node:os';
import { Fifo } from '../../shared/fifo.ts';
import { PageError } from './sign-in-errors.ts';

/**
 * Maximum concurrent password checks per process. Each occupies a thread for the duration of its hash. Node has four such
 * threads, which are also used for DNS lookups and file reads.
 */
const MAX_AT_ONCE = Math.min(3, Math.max(2, availableParallelism() - 1));
/** Maximum waiting password checks. More could not be done within the time that a person waits. */
const MAX_WAITING = 500;

/** Limits concurrent logins; those from known browsers take precedence. */
export class LoginQueue {
  readonly #maxWaiting: number;
  readonly #known = new Fifo<() => void>();
  readonly #others = new Fifo<() => void>();
  #running = 0;

  constructor(maxWaiting = MAX_WAITING) {
    this.#maxWaiting = maxWaiting;
  }

  /** @throws PageError `busy` if too many wait; and any error from `work` */
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
    if (this.#running >= MAX_AT_ONCE) {
      if (line.size >= this.#maxWaiting)
        throw new PageError('busy', 'Too many passwords are waiting to be verified', { retryAfterSec: 10 });
      // A finished check passes its slot to the next.
      return new Promise((start) => line.push(start));
    }
    this.#running += 1;
  }
}
