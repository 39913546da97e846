import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describe } from '@jest/globals';

/**
 * Tests that need a program which not every machine has. In CI they always run, and so fail if `npm test` could not install
 * the program; elsewhere they are skipped without it, and their title says why.
 */
export function describeWith(program: string, title: string, tests: () => void): void {
  if (isHere(program) || process.env['CI'] === 'true') describe(title, tests);
  else describe.skip(`${title} (skipped: ${program} is not installed here)`, tests);
}

/** On PATH, or in Debian's folder for servers, which is not always on PATH. */
function isHere(program: string): boolean {
  return [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin'].some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
