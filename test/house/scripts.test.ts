import { expect, test } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const scripts = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.lua'))
  .map((path) => join('src', path));

/** The code of a script without its comments. */
const bodyOf = (path: string) => readFileSync(path, 'utf8').replace(/--.*$/gm, '');

test('no Lua script uses a key or an argument by its number', () => {
  expect(scripts.length).toBeGreaterThan(40);
  expect(scripts.filter((path) => /\b(?:KEYS|ARGV)\b/.test(bodyOf(path)))).toEqual([]);
});

test('no Lua script returns several values by position', () => {
  expect(scripts.filter((path) => /\breturn \{/.test(bodyOf(path)))).toEqual([]);
});

/** The sections of a script's header: `-- Keys       record: of the message   inbox`, with further lines indented. */
function headerOf(path: string): Record<string, string> {
  const [header = ''] = /^(?:--.*\n)*/.exec(readFileSync(path, 'utf8')) ?? [];
  const sections = header.matchAll(/^-- (Constants|Keys|Arguments|Returns) +(.*(?:\n-- {3,}.*)*)/gm);
  return Object.fromEntries([...sections].map(([, name = '', text = '']) => [name, text]));
}

test.each(scripts.filter((path) => !path.includes('/library/')))(
  'the header of %s lists keys, arguments and constants, and says what the script returns',
  (path) => {
    const header = headerOf(path);
    const isListed = (section: string, name: string) => new RegExp(`\\b${name}\\b`).test(header[section] ?? '');
    const unlisted = [...bodyOf(path).matchAll(/\b(keys|args)\.(\w+)|\b([A-Z]+(?:_[A-Z]+)+)\b/g)].flatMap(
      ([said, table, name = '', constant]) => {
        const section = constant === undefined ? { keys: 'Keys', args: 'Arguments' }[table ?? ''] : 'Constants';
        return isListed(section ?? '', constant ?? name) ? [] : [said];
      },
    );
    expect([...new Set(unlisted)]).toEqual([]);
    if (/\breturn (?!end\b)/.test(bodyOf(path))) expect(header).toHaveProperty('Returns');
  },
);
