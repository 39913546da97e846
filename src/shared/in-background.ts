import { asError } from './coded-error.ts';

/**
 * Starts work that is not awaited: from a timer, an event or a pacer. Catches every error, because an unhandled rejection
 * would end the process. Lint allows a floating promise in no other way.
 * @param onError receives the error; without it errors are ignored
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
