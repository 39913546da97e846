import { asError } from './coded-error.ts';
import { Deferred } from './deferred.ts';

/** Waits for a promise until the signal aborts. @throws the signal's reason */
export async function abortable<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  signal.throwIfAborted();
  const aborted = new Deferred<never>();
  const abort = () => aborted.reject(asError(signal.reason));
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([promise, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
