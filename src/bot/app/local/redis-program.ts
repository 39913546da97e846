import { findProgram } from '../../../shared/process/trusted-path.mjs';

const PROGRAMS = ['redis-server', 'valkey-server'];

/**
 * The Redis program to start: `redis-server`, or `valkey-server` if only that is in a trusted directory of PATH. Always an
 * absolute path.
 */
export function findRedisProgram(path?: string): string {
  return findProgram(PROGRAMS, path) ?? '/usr/bin/redis-server';
}
