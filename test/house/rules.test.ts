import { expect, test } from '@jest/globals';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { anchorsOf } from './pages.ts';
import { rulesOf, testsBySlug } from '../../scripts/rules.mjs';

const read = (path: string): string => readFileSync(path, 'utf8');
const reliability = read('docs/reference/RELIABILITY.md');

/** The names that each page defines. */
const SLUGS: Record<string, readonly string[]> = {
  SECURITY: rulesOf(read('docs/reference/SECURITY.md')),
  RELIABILITY: [...reliability.matchAll(/(?:^\| |\*\*)`([a-z0-9-]+)`/gm)].map(([, slug = '']) => slug),
  PLATFORM_FACTS: anchorsOf(read('docs/reference/PLATFORM_FACTS.md')),
  ...(existsSync('docs/reference/SERVICE.md') ? { SERVICE: anchorsOf(read('docs/reference/SERVICE.md')) } : {}),
};
const all = new Set(Object.values(SLUGS).flat());
const tests = testsBySlug();

/** All code files, with their texts. */
const sources = ['src', 'test', 'chaos', 'bench', 'scripts']
  .flatMap((folder) => readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((path) => join(folder, path)))
  .filter((path) => /\.(ts|tsx|mjs|lua|css)$/.test(path))
  .map((path) => ({ path, text: read(path) }));

test('every rule that the code refers to exists on the named page', () => {
  const lost: string[] = [];
  for (const { path, text } of sources)
    for (const [, page = '', list = ''] of text.matchAll(
      /\b(SECURITY|RELIABILITY|PLATFORM_FACTS|SERVICE)\.md ([a-z][a-z0-9-]*(?:, [a-z][a-z0-9-]*)*)/g,
    ))
      for (const [index, slug] of list.split(', ').entries())
        if (SLUGS[page]?.includes(slug) !== true && (index === 0 || slug.includes('-')))
          lost.push(`${path}: ${page}.md ${slug}`);
  expect(lost).toEqual([]);
});

test('every tag in a test title is a rule, a fault or a fact that a page defines', () => {
  expect([...tests.keys()].filter((slug) => !all.has(slug))).toEqual([]);
});

test('every rule has a test with its tag', () => {
  expect(SLUGS['SECURITY']?.filter((slug) => !tests.has(slug))).toEqual([]);
});

test('rules and faults have distinct names', () => {
  const named = [...(SLUGS['SECURITY'] ?? []), ...(SLUGS['PLATFORM_FACTS'] ?? [])];
  expect(named).toHaveLength(new Set(named).size);
});

test('the code refers to no missing page and to no undefined number', () => {
  const foreign = /\b(?:security|reliability|contract|design|peers|slack|wecom)\.md\b|\bspec \d/;
  const found = sources.filter(
    ({ path, text }) => path !== join('test', 'house', 'rules.test.ts') && foreign.test(text),
  );
  expect(found.map(({ path }) => path)).toEqual([]);
});
