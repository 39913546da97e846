import { spawn } from 'node:child_process';

/** Waits for the end of its input, which comes when this process ends, however it does; then ends the process given to it. */
const WATCH = 'cat >/dev/null; kill -CONT "$0"; kill -TERM "$0"';

/**
 * Sees to it that a process of ours ends in order when this one is killed, where no handler runs any more.
 * @returns a function that ends the watch; call it as soon as the process has ended, since its id may be given away again
 */
export function endWithUs(pid: number): () => void {
  const watch = spawn('/bin/sh', ['-c', WATCH, String(pid)], { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
  // Without a shell there is no watch, and all else works.
  watch.on('error', () => undefined);
  watch.stdin.on('error', () => undefined);
  watch.unref();
  (watch.stdin as unknown as { unref?: () => void }).unref?.();
  return () => watch.kill('SIGKILL');
}
