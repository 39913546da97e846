import { spawnSync } from 'node:child_process';
import { isAbsolute } from 'node:path';
import { findProgram } from '../../src/shared/process/trusted-path.mjs';

/** A failed preparation; its message is one sentence that says what to do. */
export class PreparationError extends Error {}

/**
 * Runs a program of a trusted directory and waits. Its output goes to standard error, because standard output of `npm run`
 * belongs to the program that is being prepared.
 * @returns whether the exit code was 0
 */
export function runStep(program, args, env = {}) {
  const path = isAbsolute(program) ? program : findProgram(program);
  if (path === undefined) return false;
  const result = spawnSync(path, args, { stdio: ['inherit', 2, 2], env: { ...process.env, ...env } });
  return result.status === 0;
}
