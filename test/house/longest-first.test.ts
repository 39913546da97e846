import { expect, test } from '@jest/globals';
import { existsSync, readFileSync } from 'node:fs';

test('the list of the longest test files names each once, and none that is gone', () => {
  const names = JSON.parse(readFileSync('test/support/longest-first.json', 'utf8')) as string[];
  expect(names.filter((name) => !existsSync(`test/${name}.test.ts`))).toEqual([]);
  expect(new Set(names).size).toBe(names.length);
});
