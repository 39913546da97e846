import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { SECOND_MS } from '../../../shared/clock.ts';

/** Redis finishes writing its file before it ends; only a frozen or broken one takes longer. */
const STOP_LIMIT_MS = 10 * SECOND_MS;
const POLL_MS = 20;

/**
 * Ends the redis-server that a crashed run left behind on the same folder, so that two never write one append-only file.
 * A process that merely got the same id since is left alone.
 * @param redisDir the folder's real path, which is the server's working directory
 * @returns whether there was one
 */
export async function stopStaleRedis(redisDir: string, pidFile: string): Promise<boolean> {
  const pid = readPid(pidFile);
  const isStale = pid !== undefined && isRedisIn(pid, redisDir);
  if (isStale) await endProcess(pid, () => isRedisIn(pid, redisDir));
  rmSync(pidFile, { force: true });
  return isStale;
}

function readPid(pidFile: string): number | undefined {
  const text = existsSync(pidFile) ? readFileSync(pidFile, 'utf8').trim() : '';
  return /^[1-9]\d{0,9}$/.test(text) ? Number(text) : undefined;
}

/** On Linux a process tells its working directory; elsewhere its program's name has to do. */
function isRedisIn(pid: number, redisDir: string): boolean {
  if (!isAlive(pid)) return false;
  try {
    if (existsSync('/proc/self/cwd')) return readlinkSync(`/proc/${pid}/cwd`) === redisDir;
    return /(redis|valkey)-server/.test(execFileSync('ps', ['-o', 'comm=', '-p', String(pid)], { encoding: 'utf8' }));
  } catch {
    return false;
  }
}

/** @param isThere false for a dead process that its parent has not asked after yet, which a signal would still find */
async function endProcess(pid: number, isThere: () => boolean): Promise<void> {
  // A stopped process would sleep on through SIGTERM.
  process.kill(pid, 'SIGCONT');
  process.kill(pid, 'SIGTERM');
  const deadlineMs = performance.now() + STOP_LIMIT_MS;
  while (isThere() && performance.now() < deadlineMs) await sleep(POLL_MS);
  if (!isThere()) return;
  process.kill(pid, 'SIGKILL');
  while (isThere()) await sleep(POLL_MS);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
