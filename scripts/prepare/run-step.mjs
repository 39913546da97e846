import { spawnSync } from 'node:child_process';
import { isAbsolute } from 'node:path';
import { findProgram } from '../../src/shared/process/trusted-path.mjs';

/** A preparation that cannot go on; its message is one sentence that says what to do. */
export class PreparationError extends Error {}

/**
 * Runs a program of a trusted folder and waits. Its output goes to standard error, since what `npm run` prints belongs to the program that
 * is being prepared.
 * @returns whether it ended with 0
 */
export function runStep(program, args, env = {}) {
  const path = isAbsolute(program) ? program : findProgram(program);
  if (path === undefined) return false;
  const result = spawnSync(path, args, { stdio: ['inherit', 2, 2], env: { ...process.env, ...env } });
  return result.status === 0;
}
