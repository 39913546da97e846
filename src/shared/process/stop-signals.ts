import { SECOND_MS } from '../clock.ts';

/** What tells of signals; `process` fits. */
interface SignalSource {
  on(signal: 'SIGINT' | 'SIGTERM', listener: () => void): unknown;
  off(signal: 'SIGINT' | 'SIGTERM', listener: () => void): unknown;
}

export interface StopSignalOptions {
  /** The first signal: stop in order. */
  onStop(): void;
  /** A signal from somebody who waited for that long enough: stop at once. */
  onInsist(): void;
  source?: SignalSource;
  /** A clock that only goes forward; the process's own unless told. Milliseconds. */
  monotonicMs?: () => number;
}

/** npm hands a terminal's Ctrl+C on to a program that the terminal has told already, so one press comes twice. */
const SAME_PRESS_MS = 1.5 * SECOND_MS;

/**
 * Listens for SIGINT and SIGTERM. What comes within a second and a half of the first is the same request, said twice.
 * @returns ends the listening
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
 * Node opens a debugger on a port of this machine at SIGUSR1, and every process of our user may send that signal, a reader that a
 * document has taken over too (SECURITY.md confined-readers).
 */
export function ignoreDebuggerSignal(): void {
  process.on('SIGUSR1', () => undefined);
}
