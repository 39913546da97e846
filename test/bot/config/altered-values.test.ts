import { expect, test } from '@jest/globals';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadSettings } from '../../../src/bot/config/load-settings.ts';
import { SERVING } from './environments.ts';

const NAME = 'SIGN_IN_CLIENT_SECRET';

/** Returns the warnings about the secret if it is provided this way. */
function warningsFor(written: { line?: string; env?: Record<string, string>; secretFile?: string }): string[] {
  const cwd = mkdtempSync(join(tmpdir(), 'parley-values-'));
  try {
    mkdirSync(join(cwd, 'config'));
    writeFileSync(join(cwd, 'config/.env'), written.line ?? '');
    const { [NAME]: _, ...around } = SERVING;
    const env: Record<string, string> = { ...around, ...written.env };
    if (written.secretFile !== undefined) {
      writeFileSync(join(cwd, 'secret'), written.secretFile);
      env[`${NAME}_FILE`] = join(cwd, 'secret');
    }
    const { warnings } = loadSettings({ env, cwd });
    return warnings.filter((warning) => warning.includes(NAME));
  } finally {
    rmSync(cwd, { recursive: true });
  }
}

test.each([
  ['cut at a #', { line: `${NAME}=ab#cd\n` }, 'single quotes'],
  ['cut at a #, exported, with CRLF', { line: `A=1\r\nexport ${NAME} = ab#cd\r\n` }, 'single quotes'],
  ['cut at a #, behind a byte order mark', { line: `\uFEFF${NAME}=ab#cd` }, 'single quotes'],
  ['quotes kept by a container tool', { env: { [NAME]: '"abcd"' } }, 'quotes around'],
  ['single quotes kept', { env: { [NAME]: "'abcd'" } }, 'quotes around'],
  ['quotes in a file of its own', { secretFile: '"abcd"\n' }, 'quotes around'],
  ['typographic quotes', { line: `${NAME}=“abcd”\n` }, 'typographic'],
  ['a trailing blank', { env: { [NAME]: 'abcd ' } }, 'space or line break'],
  ['a trailing carriage return', { env: { [NAME]: 'abcd\r' } }, 'space or line break'],
  ['a reference that is not replaced', { line: `${NAME}=\${OTHER}\n` }, 'reference'],
  ['"export" as part of the name', { env: { [`export ${NAME}`]: 'abcd' } }, '"export"'],
  ['a byte order mark as part of the name', { env: { [`\uFEFF${NAME}`]: 'abcd' } }, 'byte order mark'],
] as const)('warns about a value that was probably altered, without quoting it: %s', (_name, written, words) => {
  const warnings = warningsFor(written);
  expect(warnings).toContainEqual(expect.stringContaining(words));
  expect(warnings.join()).not.toMatch(/ab#?cd|OTHER/);
});

test.each([
  ['a comment behind a blank', { line: `${NAME}=abcd # a comment\n` }],
  ['a # in quotes', { line: `${NAME}='ab#cd'\n` }],
  ['a # in double quotes', { line: `${NAME}="ab#cd" # why\n` }],
  ['a comment line', { line: `# ${NAME}=ab#cd\n${NAME}=abcd\n` }],
  ['a # from the environment', { env: { [NAME]: 'ab#cd' }, line: `${NAME}=ab#cd\n` }],
  ['a newline behind it in a file of its own', { secretFile: 'abcd\r\n' }],
  ['a dollar within', { line: `${NAME}=ab$cd\n` }],
] as const)('does not warn about an unaltered value: %s', (_name, written) => {
  expect(warningsFor(written)).toEqual([]);
});
