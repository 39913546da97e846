import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { MODULE_RULES } from './module-rules.ts';
import { codeOf, readPage } from './pages.ts';

const MAX_LINES = 60;
const MODULES = ['src/bot', ...Object.keys(MODULE_RULES).map((module) => join('src', module))];
/** A path or a file name. Names of environment variables, types and URLs are not checked. */
const FILE_NAME = /^[\w.-]+(?:\/[\w.-]+)*\.(?:ts|tsx|mjs|lua|json|md)$/;

/** The files that a README names and that exist neither in its module nor in the project. */
function missingFiles(module: string, text: string): string[] {
  return codeOf(text).filter((code) => FILE_NAME.test(code) && !existsSync(join(module, code)) && !existsSync(code));
}

describe.each(MODULES)('the README of %s', (module) => {
  const page = join(module, 'README.md');

  test('exists and is short enough to be read before the code', () => {
    expect(existsSync(page)).toBe(true);
    expect(readPage(page).trimEnd().split('\n').length).toBeLessThanOrEqual(MAX_LINES);
  });

  test('names several files, all of which exist', () => {
    const text = readPage(page);
    expect(codeOf(text).filter((code) => FILE_NAME.test(code)).length).toBeGreaterThanOrEqual(4);
    expect(missingFiles(module, text)).toEqual([]);
  });
});

test('a file that does not exist is reported', () => {
  expect(missingFiles('src/bot/queue', '`accept.ts`, `scripts/accept.lua`, `acept.ts`, `REDIS_URL`')).toEqual([
    'acept.ts',
  ]);
});
