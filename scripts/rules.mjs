// Prints the tests of each rule, or of the rules given: `npm run rules -- accept-once`. A test covers a rule if its title ends
// with the rule's tag: `… [accept-once]`.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const DOC = 'docs/reference/SECURITY.md';
const TAG = /\[([a-z][a-z0-9]*(?:-[a-z0-9]+)*)\]/g;

/** @returns the test files with each slug in a title, by slug; paths below test/, without extensions */
export function testsBySlug(root = '.') {
  const found = new Map();
  for (const path of readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' }).toSorted()) {
    if (!/\.test\.ts$/.test(path)) continue;
    const name = path.replaceAll('\\', '/').replace(/\.test\.ts$/, '');
    for (const slug of slugsOfTitles(readFileSync(join(root, 'test', path), 'utf8')))
      found.set(slug, [...new Set([...(found.get(slug) ?? []), name])]);
  }
  return found;
}

/** The slugs at the ends of a test file's titles. */
function slugsOfTitles(source) {
  const slugs = new Set();
  for (const line of source.split('\n')) {
    const end = /((?: \[[a-z][a-z0-9]*(?:-[a-z0-9]+)*\])+)['"`]/.exec(line);
    for (const [, slug] of end?.[1].matchAll(TAG) ?? []) slugs.add(slug);
  }
  return slugs;
}

/** The slugs of the rules on the page. */
export function rulesOf(doc) {
  return [...doc.matchAll(/^- `([a-z0-9-]+)`: /gm)].map(([, slug]) => slug);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const tests = testsBySlug();
  const asked = process.argv.slice(2);
  for (const rule of asked.length > 0 ? asked : rulesOf(readFileSync(DOC, 'utf8')))
    console.log(`${rule}: ${tests.get(rule)?.join(', ') ?? 'no test'}`);
}
