import { expect, test } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { MAX_FILE_LINES } from './module-rules.ts';

/** Folders of hand-written code. */
const FOLDERS = ['src', 'test', 'chaos', 'bench', 'scripts'];
const WRITTEN = /\.(tsx?|mjs|css|lua|html)$/;

test(`no source file has more than ${MAX_FILE_LINES} lines`, () => {
  const sources = FOLDERS.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((path) => join(folder, path)),
  ).filter((path) => WRITTEN.test(path));
  const sizes = sources.map((path) => ({ path, lines: readFileSync(path, 'utf8').split('\n').length - 1 }));
  expect(sizes.filter(({ lines }) => lines > MAX_FILE_LINES)).toEqual([]);
});
