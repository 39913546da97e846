import { EventEmitter } from 'node:events';

/**
 * Ends one HTTP call from outside, as an `AbortSignal` does. The HTTP client takes either, and this one costs a fraction;
 * each look of an answer is such a call.
 */
export class Ending extends EventEmitter {
  aborted = false;
  /** Why, once it is ended. */
  reason: Error | undefined;

  /** Ends the call. Only the first time counts. */
  end(reason: Error): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    this.emit('abort');
  }
}
