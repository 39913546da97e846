import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';

/** A defence, how to take it out, and what must notice. `npm run mutants` tries them all. */
interface Mutant {
  /** The rule that asks for the defence. */
  rule: string;
  /** What is wrong once it is out. */
  name: string;
  file: string;
  find: string;
  replace: string;
  /** Files of tests of which at least one must turn red. */
  tests: string[];
  /** Narrows them to tests of which the name matches. */
  only?: string;
}

const FOLDER = 'test/mutants';
const tables = readdirSync(FOLDER).filter((name) => name.endsWith('.json'));
const read = (table: string) => JSON.parse(readFileSync(join(FOLDER, table), 'utf8')) as Mutant[];

describe.each(tables)('the mutants of %s', (table) => {
  const mutants = read(table);

  test.each(mutants.map((mutant) => [mutant.name, mutant] as const))('%s: is up to date', (_, mutant) => {
    expect(readFileSync(mutant.file, 'utf8').split(mutant.find)).toHaveLength(2);
    expect(mutant.replace).not.toBe(mutant.find);
    expect(mutant.rule).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*(\/[a-z0-9]+(-[a-z0-9]+)*)?$/);
    expect(mutant.tests.length).toBeGreaterThan(0);
    expect(mutant.tests.filter((path) => !existsSync(path))).toEqual([]);
  });
});

test('no two mutants have the same name', () => {
  const names = tables.flatMap(read).map(({ name }) => name);
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
});
