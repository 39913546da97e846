import { spawn, type ChildProcess } from 'node:child_process';

/** Waits for the end of its input, which closes when this process ends for any reason, then ends the given process. */
const WATCH = 'cat >/dev/null; kill -CONT "$0"; kill -s "$1" "$0"';

/**
 * Ends a child process when this process is killed and no handler can run.
 * @param child as spawned: this process may be killed while the child starts
 * @param signal `KILL` for a child that ends by itself unless it is blocked
 */
export function exitWithParent(child: ChildProcess, signal: 'TERM' | 'KILL' = 'TERM'): void {
  // The child could not be started.
  if (child.pid === undefined) return;
  const watch = spawn('/bin/sh', ['-c', WATCH, String(child.pid), signal], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  // Without a shell the child is not watched; everything else works.
  watch.on('error', () => undefined);
  watch.stdin.on('error', () => undefined);
  watch.unref();
  (watch.stdin as unknown as { unref?: () => void }).unref?.();
  // Its process id may be reused.
  child.once('exit', () => watch.kill('SIGKILL'));
}
