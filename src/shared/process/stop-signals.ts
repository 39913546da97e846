import { SECOND_MS } from '../clock.ts';

/** Source of signals; `process` is compatible. */
interface SignalSource {
  on(signal: 'SIGINT' | 'SIGTERM', listener: () => void): unknown;
  off(signal: 'SIGINT' | 'SIGTERM', listener: () => void): unknown;
}

export interface StopSignalOptions {
  /** Called on the first signal: graceful shutdown. */
  onStop(): void;
  /** Called on a later signal: immediate stop. */
  onInsist(): void;
  source?: SignalSource;
  /** Monotonic clock in milliseconds. Defaults to the process's own. */
  monotonicMs?: () => number;
}

/** npm forwards a terminal's Ctrl+C to a program that has already received it, so one key press may arrive twice. */
const SAME_PRESS_MS = 1.5 * SECOND_MS;

/**
 * Listens for SIGINT and SIGTERM. Signals within 1.5 s of the first count as the same request.
 * @returns a function that stops listening
 */
export function listenForStop({
  onStop,
  onInsist,
  source = process,
  monotonicMs = () => performance.now(),
}: StopSignalOptions): () => void {
  let firstAtMs: number | undefined;
  const heard = () => {
    if (firstAtMs === undefined) {
      firstAtMs = monotonicMs();
      onStop();
    } else if (monotonicMs() - firstAtMs >= SAME_PRESS_MS) onInsist();
  };
  source.on('SIGINT', heard);
  source.on('SIGTERM', heard);
  return () => {
    source.off('SIGINT', heard);
    source.off('SIGTERM', heard);
  };
}

/**
 * On SIGUSR1 Node opens a debugger on a local port. Any process of the same user can send that signal, including a reader
 * that a malicious document has compromised (SECURITY.md confined-readers).
 */
export function ignoreDebuggerSignal(): void {
  process.on('SIGUSR1', () => undefined);
}
