import { expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { listSources } from './judge-imports.ts';
import { MAX_FILE_LINES } from './room-rules.ts';

test(`no source file has more than ${MAX_FILE_LINES} lines`, () => {
  const sizes = listSources('src').map((path) => ({
    path,
    lines: readFileSync(join('src', path), 'utf8').split('\n').length - 1,
  }));
  expect(sizes.filter(({ lines }) => lines > MAX_FILE_LINES)).toEqual([]);
});
