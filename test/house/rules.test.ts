import { expect, test } from '@jest/globals';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { anchorsOf } from './pages.ts';
import { rulesOf, testsBySlug, withTests } from '../../scripts/rules.mjs';

const read = (path: string): string => readFileSync(path, 'utf8');
const security = read('docs/SECURITY.md');
const reliability = read('docs/RELIABILITY.md');

/** What each page explains by a name. */
const SLUGS: Record<string, readonly string[]> = {
  SECURITY: rulesOf(security),
  RELIABILITY: [...reliability.matchAll(/(?:^\| |\*\*)`([a-z0-9-]+)`/gm)].map(([, slug = '']) => slug),
  PLATFORM_FACTS: anchorsOf(read('docs/PLATFORM_FACTS.md')),
  ...(existsSync('docs/SERVICE.md') ? { SERVICE: anchorsOf(read('docs/SERVICE.md')) } : {}),
};
const all = new Set(Object.values(SLUGS).flat());
const tests = testsBySlug();

/** All files of code, with their texts. */
const sources = ['src', 'test', 'chaos', 'bench', 'scripts']
  .flatMap((folder) => readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((path) => join(folder, path)))
  .filter((path) => /\.(ts|tsx|mjs|lua|css)$/.test(path))
  .map((path) => ({ path, text: read(path) }));

test('whatever page of rules the code names, the name stands there', () => {
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

test('whatever a test’s title carries is a rule, a fault or a fact that a page explains', () => {
  expect([...tests.keys()].filter((slug) => !all.has(slug))).toEqual([]);
});

test('every rule has a test that carries its name', () => {
  expect(SLUGS['SECURITY']?.filter((slug) => !tests.has(slug))).toEqual([]);
});

test('the page tells which tests hold which rule, as it is now', () => {
  expect(withTests(security, tests)).toBe(security);
});

test('a rule has one name, and a fault another', () => {
  const named = [...(SLUGS['SECURITY'] ?? []), ...(SLUGS['PLATFORM_FACTS'] ?? [])];
  expect(named).toHaveLength(new Set(named).size);
});

test('nothing leans on a page that is not here, or on a number that no page explains', () => {
  const foreign = /\b(?:security|reliability|contract|design|peers|slack|wecom)\.md\b|\bspec \d/;
  const found = sources.filter(
    ({ path, text }) => path !== join('test', 'house', 'rules.test.ts') && foreign.test(text),
  );
  expect(found.map(({ path }) => path)).toEqual([]);
});
