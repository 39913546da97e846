/**
 * A signal that aborts after `limitMs`, or earlier with `signal`. `AbortSignal.timeout` is not used: combined by
 * `AbortSignal.any`, Node 20 holds it only weakly, so that garbage collection can remove it before its time.
 */
export function abortAfter(limitMs: number, signal?: AbortSignal): AbortSignal {
  const limit = new AbortController();
  const end = () => limit.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError'));
  setTimeout(end, limitMs).unref();
  return signal ? AbortSignal.any([signal, limit.signal]) : limit.signal;
}
