import { spawn, type ChildProcess } from 'node:child_process';

/** Waits for the end of its input, which closes when this process ends for any reason, then terminates the given process. */
const WATCH = 'cat >/dev/null; kill -CONT "$0"; kill -TERM "$0"';

/**
 * Ends a child process in order when this process is killed and no handler can run.
 * @param child as spawned: this process may be killed while the child starts
 */
export function exitWithParent(child: ChildProcess): void {
  // The child could not be started.
  if (child.pid === undefined) return;
  const watch = spawn('/bin/sh', ['-c', WATCH, String(child.pid)], {
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
