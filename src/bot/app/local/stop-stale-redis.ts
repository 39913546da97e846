import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { SECOND_MS } from '../../../shared/clock.ts';

/** Redis finishes writing its file before it ends. Only a frozen or broken server takes longer. */
const STOP_LIMIT_MS = 10 * SECOND_MS;
const POLL_MS = 20;

/**
 * Stops the redis-server that a crashed run left behind in the same directory, so that two never write one append-only file.
 * Another process that got the same id is left alone.
 * @param redisDir the directory's real path, which is the server's working directory
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

/** On Linux compares the process's working directory, elsewhere only its program name. */
function isRedisIn(pid: number, redisDir: string): boolean {
  if (!isAlive(pid)) return false;
  try {
    if (existsSync('/proc/self/cwd')) return readlinkSync(`/proc/${pid}/cwd`) === redisDir;
    return /(redis|valkey)-server/.test(execFileSync('ps', ['-o', 'comm=', '-p', String(pid)], { encoding: 'utf8' }));
  } catch {
    return false;
  }
}

/** @param isThere false for a dead process that its parent has not reaped yet, which signals still reach */
async function endProcess(pid: number, isThere: () => boolean): Promise<void> {
  // A stopped process would not react to SIGTERM.
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
