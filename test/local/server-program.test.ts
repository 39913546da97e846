import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { findRedisProgram } from '../../src/local/redis-program.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'parley-programs-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Puts a program there that can do nothing. */
const bring = (name: string) => writeFileSync(join(folder, name), '#!/bin/sh\nexit 1\n', { mode: 0o755 });

/** What the preparation of a start says where only these programs are. */
async function ensureRedis(): Promise<string> {
  const program = `import(${JSON.stringify(resolve('scripts/prepare/ensure-programs.mjs'))}).then((room) => room.ensureRedis(() => {})).then(() => console.log('found'), (error) => console.log(error.message))`;
  return (await promisify(execFile)(process.execPath, ['-e', program], { env: { PATH: folder } })).stdout.trim();
}

test.each([
  ['dnf', 'sudo dnf install valkey'],
  ['apk', 'sudo apk add valkey'],
  ['zypper', 'sudo zypper install valkey'],
])('where neither Redis nor Valkey is and %s installs programs, that command is named', async (manager, command) => {
  bring(manager);
  const said = await ensureRedis();
  expect(said).toContain('install redis-server or valkey-server');
  expect(said).toContain(command);
  expect(said).not.toContain('apt-get');
});

test('Valkey is enough', async () => {
  bring('valkey-server');
  expect(await ensureRedis()).toBe('found');
  expect(findRedisProgram(folder)).toBe('valkey-server');
  symlinkSync('valkey-server', join(folder, 'redis-server'));
  expect(findRedisProgram(folder)).toBe('redis-server');
});
