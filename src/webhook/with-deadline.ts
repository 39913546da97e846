import { asError, CodedError } from '../base/coded-error.ts';

/** Thrown when the store did not answer within the receiver's own deadline. */
export class DeadlineError extends CodedError<'store_deadline'> {}

/**
 * Waits for a promise no longer than `deadlineMs`. Library time-outs do not cover a connection that was never made
 * (SECURITY.md acknowledged-when-stored); a late result is dropped, which repeating a delivery makes harmless. @throws DeadlineError
 */
export function withDeadline<Result>(promise: Promise<Result>, deadlineMs: number): Promise<Result> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new DeadlineError('store_deadline', 'The store did not answer in time')),
      deadlineMs,
    );
    promise.then(
      (result) => {
        clearTimeout(timer);
        resolve(result);
      },
      (error: unknown) => {
        clearTimeout(timer);
        reject(asError(error));
      },
    );
  });
}
