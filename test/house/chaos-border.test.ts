import { expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { findImports } from './find-imports.ts';
import { listSources } from './judge-imports.ts';

/** Folders that must not import the chaos tests, except for their own tests. */
const OUTSIDE = ['src', 'test', 'bench'];
const OWN_TESTS = join('test', 'chaos');

/** The imports of the chaos tests in a file. */
function importsOfChaos(path: string, source: string): string[] {
  return findImports(path, source).flatMap(({ specifier }) =>
    specifier?.startsWith('.') && join(dirname(path), specifier).startsWith('chaos') ? [`${path}: ${specifier}`] : [],
  );
}

test('only the tests of the chaos code import it, while it may import other test code', () => {
  const paths = OUTSIDE.flatMap((root) => listSources(root).map((path) => join(root, path)));
  const outside = paths.filter((path) => dirname(path) !== OWN_TESTS);
  expect(outside.flatMap((path) => importsOfChaos(path, readFileSync(path, 'utf8')))).toEqual([]);
});

test('an import of the chaos code is found in any syntax', () => {
  const path = 'test/queue/a.test.ts';
  for (const source of [
    "import { startTestbed } from '../../chaos/testbed.ts';",
    "import type { Ledger } from '../../chaos/ledger.ts';",
    "await import('../../chaos/testbed.ts');",
  ])
    expect(importsOfChaos(path, source)).toHaveLength(1);
  expect(importsOfChaos(path, "import { slowness } from '../chaos/slowness.ts';")).toEqual([]);
});
