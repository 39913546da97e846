import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

const PROGRAMS = ['redis-server', 'valkey-server'];

/** The Redis to start: `redis-server`, or `valkey-server` where only that is on PATH. */
export function findRedisProgram(path = process.env['PATH'] ?? ''): string {
  const folders = path.split(delimiter).filter((folder) => folder !== '');
  const isOnPath = (program: string) => folders.some((folder) => isExecutable(join(folder, program)));
  return PROGRAMS.find(isOnPath) ?? 'redis-server';
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
