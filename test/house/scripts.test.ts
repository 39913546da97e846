import { expect, test } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const scripts = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.lua'))
  .map((path) => join('src', path));

/** What a script does, without what it says about itself. */
const bodyOf = (path: string) => readFileSync(path, 'utf8').replace(/--.*$/gm, '');

test('no Lua script knows a key or an argument by its number', () => {
  expect(scripts.length).toBeGreaterThan(40);
  expect(scripts.filter((path) => /\b(?:KEYS|ARGV)\b/.test(bodyOf(path)))).toEqual([]);
});

test('no Lua script answers several values by their order', () => {
  expect(scripts.filter((path) => /\breturn \{/.test(bodyOf(path)))).toEqual([]);
});
