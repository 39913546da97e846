import { expect, test } from '@jest/globals';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { SandboxedProcess } from '../../../src/shared/process/sandboxed-process.ts';

test('a document reader under control of a document can read no secret, write no file and start no program [confined-readers]', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-prying-'));
  const secretFile = join(folder, 'keys.json');
  const newFile = join(folder, 'new');
  writeFileSync(secretFile, '{}');
  process.env['PARLEY_TEST_SECRET'] = 'x';
  const path = resolve('test/support/prying-reader.mjs');
  const reader = new SandboxedProcess({ name: 'prying', path, limitMs: 20_000, maxGrownBytes: 0 });
  expect(await reader.ask({ bytes: Buffer.from(JSON.stringify({ secretFile, newFile })) })).toEqual([]);
  expect(existsSync(newFile)).toBe(false);
  delete process.env['PARLEY_TEST_SECRET'];
  rmSync(folder, { recursive: true });
});
