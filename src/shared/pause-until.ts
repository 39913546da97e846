import { setTimeout as pause } from 'node:timers/promises';

/**
 * Waits for a time in milliseconds or until a promise settles, whichever is first, and leaves no timer behind.
 * @throws the signal's reason
 */
export async function pauseUntil(pauseMs: number, until: Promise<unknown>, signal: AbortSignal): Promise<void> {
  const ended = new AbortController();
  const end = () => ended.abort();
  until.then(end, end);
  await pause(pauseMs, undefined, { signal: AbortSignal.any([signal, ended.signal]) }).catch(() => undefined);
  signal.throwIfAborted();
}
