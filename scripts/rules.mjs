// Writes which tests hold which rule into the page of the rules: `npm run rules`. A test holds a rule that its title carries: `… [accept-once]`.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const DOC = 'docs/SECURITY.md';
const [BEGIN, END] = ['<!-- rules:begin -->', '<!-- rules:end -->'];
const TAG = /\[([a-z][a-z0-9]*(?:-[a-z0-9]+)*)\]/g;

/** @returns the test files that carry each slug in a title, by the slug; paths below test/, without their ends */
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

/** The slugs of the rules that the page tells. */
export function rulesOf(doc) {
  return [...doc.slice(0, doc.indexOf(BEGIN)).matchAll(/^\| `([a-z0-9-]+)` +\| [^|]+\|$/gm)].map(([, slug]) => slug);
}

/** The page with its list of tests brought up to date. */
export function withTests(doc, tests) {
  const rows = rulesOf(doc).map((slug) =>
    [`- \`${slug}\``, (tests.get(slug) ?? []).map((test) => `\`${test}\``).join(', ')].join(': '),
  );
  return `${doc.slice(0, doc.indexOf(BEGIN) + BEGIN.length)}\n\n${rows.join('\n')}\n\n${doc.slice(doc.indexOf(END))}`;
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  writeFileSync(DOC, withTests(readFileSync(DOC, 'utf8'), testsBySlug()));
