import { CodedError } from './coded-error.ts';

/** Thrown when a probe, a check or a command exceeds its time limit. */
export class TooSlowError extends CodedError<'too_slow'> {}

/** Waits for a promise for at most `limitMs`; a late result is dropped. @throws TooSlowError */
export function withTimeout<Result>(promise: Promise<Result>, limitMs: number): Promise<Result> {
  // Cheaper than `Promise.race`, which matters because every delivery waits here.
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(new TooSlowError('too_slow', `No result in ${limitMs} ms`));
    // Timers run before input: what arrived while the process was busy past the limit is read first.
    const timer = setTimeout(() => setImmediate(giveUp), limitMs);
    const stopTimer = () => clearTimeout(timer);
    promise.then(stopTimer, stopTimer);
    promise.then(resolve, reject);
  });
}
