import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { entriesOfFamily } from '../../../src/shared/models/known-models.ts';

const KNOWN = ['gpt-4o', 'gpt-5.1', 'qwen-plus', 'Qwen/Qwen3-8B', 'gpt-oss:20b', '7b'].map((name) => ({ name }));
const namesFor = (name: string) => entriesOfFamily(name, KNOWN).map((entry) => entry.name);

test.each([
  ['gpt-4o-mini', ['gpt-4o', 'gpt-5.1', 'gpt-oss:20b']],
  ['gpt-5', ['gpt-5.1', 'gpt-4o', 'gpt-oss:20b']],
  ['openai/GPT-OSS:120b', ['gpt-oss:20b', 'gpt-4o', 'gpt-5.1']],
  ['qwen-max', ['qwen-plus', 'Qwen/Qwen3-8B']],
  ['unsloth/Qwen3-32B', ['Qwen/Qwen3-8B', 'qwen-plus']],
  ['llama3', []],
  ['70b', []],
])('the entries for %s are ordered by likelihood', (name, fitting) => {
  expect(namesFor(name)).toEqual(fitting);
});

test('a known name is the most likely entry for itself, and no entry occurs twice', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[a-zA-Z]{1,4}[a-z0-9.:-]{0,6}$/), (name) => {
      const found = entriesOfFamily(name, [...KNOWN, { name }]).map((entry) => entry.name);
      expect(found).toContain(name);
      expect(entriesOfFamily(name, [{ name }])).toEqual([{ name }]);
      expect(new Set(found).size === found.length || KNOWN.some((entry) => entry.name === name)).toBe(true);
    }),
  );
});
