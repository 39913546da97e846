import { asError } from './coded-error.ts';

/**
 * Starts work that nobody waits for: from a timer, an event, a pacer. Whatever it throws ends here, since a rejection
 * that nobody hears would end the process with all that it does. Lint allows a floating promise in no other way.
 * @param onError what to tell of a failure; without it a failure is nobody's business
 */
export function inBackground(work: () => unknown, onError?: (error: Error) => void): void {
  const failed = (thrown: unknown) => onError?.(asError(thrown));
  try {
    const started = work();
    if (started instanceof Promise) started.catch(failed);
  } catch (thrown) {
    failed(thrown);
  }
}
