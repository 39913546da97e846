import { spawn, type ChildProcess } from 'node:child_process';

/** Waits for the end of its input, which comes when this process ends, however it does; then ends the process given to it. */
const WATCH = 'cat >/dev/null; kill -CONT "$0"; kill -TERM "$0"';

/**
 * Sees to it that a process of ours ends in order when this one is killed, where no handler runs any more.
 * @param child as it was just spawned: while it starts we may be killed too
 */
export function endWithUs(child: ChildProcess): void {
  // It could not be started.
  if (child.pid === undefined) return;
  const watch = spawn('/bin/sh', ['-c', WATCH, String(child.pid)], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  // Without a shell there is no watch, and all else works.
  watch.on('error', () => undefined);
  watch.stdin.on('error', () => undefined);
  watch.unref();
  (watch.stdin as unknown as { unref?: () => void }).unref?.();
  // Its id may be given away again.
  child.once('exit', () => watch.kill('SIGKILL'));
}
