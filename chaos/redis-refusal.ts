import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Redis } from 'ioredis';

/**
 * Why Redis refuses every write: out of memory, unable to write its files, without permission, turned into a replica, or
 * without enough replicas.
 */
export type RefusalKind = 'full' | 'misconf' | 'noperm' | 'readonly' | 'noreplicas';

/**
 * Makes a redis-server of the testbed refuse every write; reads still work.
 * @param dataDir directory of its files
 * @returns a function that makes it accept writes again
 */
export async function beginRefusal(port: number, dataDir: string, why: RefusalKind): Promise<() => Promise<void>> {
  const [begin, end] = COMMANDS[why];
  if (why === 'misconf') {
    // A directory at the path of its snapshot prevents the rename.
    mkdirSync(join(dataDir, 'dump.rdb', 'in-the-way'), { recursive: true });
  }
  await tell(port, begin);
  if (why === 'misconf') await untilSnapshotFailed(port);
  return async () => {
    await tell(port, end);
    if (why === 'misconf') rmSync(join(dataDir, 'dump.rdb'), { recursive: true, force: true });
  };
}

const COMMANDS: Record<RefusalKind, [begin: string[][], end: string[][]]> = {
  full: [[['CONFIG', 'SET', 'maxmemory', '1']], [['CONFIG', 'SET', 'maxmemory', '0']]],
  misconf: [[['CONFIG', 'SET', 'save', '3600 1'], ['BGSAVE']], [['CONFIG', 'SET', 'save', '']]],
  noperm: [[['ACL', 'SETUSER', 'default', '-@write']], [['ACL', 'SETUSER', 'default', '+@all']]],
  readonly: [[['REPLICAOF', '127.0.0.1', '1']], [['REPLICAOF', 'NO', 'ONE']]],
  noreplicas: [[['CONFIG', 'SET', 'min-replicas-to-write', '1']], [['CONFIG', 'SET', 'min-replicas-to-write', '0']]],
};

const SNAPSHOT_WITHIN_MS = 3_000;

async function untilSnapshotFailed(port: number): Promise<void> {
  for (let waitedMs = 0; waitedMs < SNAPSHOT_WITHIN_MS; waitedMs += 50) {
    if ((await tell(port, [['INFO', 'persistence']])).includes('last_bgsave_status:err')) return;
    await pause(50);
  }
}

/** Sends commands, bypassing all proxies. @returns the last reply */
async function tell(port: number, commands: readonly string[][]): Promise<string> {
  const redis = new Redis(port, '127.0.0.1', { maxRetriesPerRequest: null });
  redis.on('error', () => undefined);
  try {
    let answer: unknown;
    for (const [command = '', ...args] of commands) answer = await redis.call(command, ...args).catch(String);
    return String(answer);
  } finally {
    redis.disconnect();
  }
}
