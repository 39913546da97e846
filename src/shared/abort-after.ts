/**
 * A signal that aborts after `limitMs`, or earlier with `signal`. `AbortSignal.timeout` is not used: Node
 * 20 holds it only weakly once `AbortSignal.any` combines it, so garbage collection can remove it before its time.
 */
export function abortAfter(limitMs: number, signal?: AbortSignal): AbortSignal {
  const limit = new AbortController();
  const end = () => limit.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError'));
  setTimeout(end, limitMs).unref();
  return signal ? AbortSignal.any([signal, limit.signal]) : limit.signal;
}
