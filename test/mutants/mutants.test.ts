import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { guardsOf, mutate, readSources } from '../../scripts/mutants/find-target.mjs';
import { readRows } from '../../scripts/mutants/rows.mjs';
import { rulesOf, testsBySlug } from '../../scripts/rules.mjs';

const { rows, reasons } = readRows();
const sources = readSources();
const tests = testsBySlug();
const rules = rulesOf(readFileSync('docs/reference/SECURITY.md', 'utf8'));

test('every mutant has a target, and its mutation fits', () => {
  expect(rows.flatMap((row) => faultOf(row))).toEqual([]);
});

test('the test file of every mutant exists and has a test with the tag of the rule', () => {
  const missing = rows.filter(({ test: path }) => !existsSync(`test/${path}.test.ts`));
  const untagged = rows.filter(({ rule, test: path }) => tests.get(rule)?.includes(path) !== true);
  expect([...missing, ...untagged]).toEqual([]);
});

test('every rule has a mutant, or the reason why it has none', () => {
  const covered = new Set(rows.map(({ rule }) => rule));
  expect(rules.filter((rule) => !covered.has(rule) && !reasons.has(rule))).toEqual([]);
  expect([...reasons.keys()].filter((rule) => covered.has(rule) || !rules.includes(rule))).toEqual([]);
});

test('every guard marker in a Lua script has a mutant', () => {
  const targets = rows.map(({ rule, target }) => `${rule}/${target.replace('guard: ', '')}`);
  expect(guardsOf(sources).filter((guard) => !targets.includes(guard))).toEqual([]);
});

test('no mutant is listed twice', () => {
  const places = rows.map(({ rule, target, mutation }) => `${rule} ${target} ${mutation}`);
  expect(places.filter((place, index) => places.indexOf(place) !== index)).toEqual([]);
});

function faultOf(row: (typeof rows)[number]): string[] {
  try {
    mutate(sources, row);
    return [];
  } catch (error) {
    return [(error as Error).message];
  }
}
