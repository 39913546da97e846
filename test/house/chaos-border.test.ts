import { expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { mutatedSource } from '../support/mutated-source.ts';
import { findImports } from './find-imports.ts';
import { listSources } from './judge-imports.ts';

/** Where nothing of the chaos rig may be imported; its own tests may. */
const OUTSIDE = ['src', 'test', 'bench'];
const OWN_TESTS = join('test', 'chaos');

/** What a file imports of the chaos rig. */
function importsOfChaos(path: string, source: string): string[] {
  return findImports(path, source).flatMap(({ specifier }) =>
    specifier?.startsWith('.') && join(dirname(path), specifier).startsWith('chaos') ? [`${path}: ${specifier}`] : [],
  );
}

test('the chaos rig uses what tests offer, and nothing but its own tests uses the rig', () => {
  const paths = OUTSIDE.flatMap((root) => listSources(root).map((path) => join(root, path)));
  const outside = paths.filter((path) => dirname(path) !== OWN_TESTS);
  expect(
    outside.flatMap((path) => importsOfChaos(path, mutatedSource(resolve(path), readFileSync(path, 'utf8')))),
  ).toEqual([]);
});

test('an import of the rig is seen however it is written', () => {
  const path = 'test/queue/a.test.ts';
  for (const source of [
    "import { startTestbed } from '../../chaos/testbed.ts';",
    "import type { Ledger } from '../../chaos/ledger.ts';",
    "await import('../../chaos/testbed.ts');",
  ])
    expect(importsOfChaos(path, source)).toHaveLength(1);
  expect(importsOfChaos(path, "import { slowness } from '../chaos/slowness.ts';")).toEqual([]);
});
