import { execFile } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { findProgram, keepTrustedPath } from '../../../../src/shared/process/trusted-path.mjs';
import { findRedisProgram } from '../../../../src/bot/app/local/redis-program.ts';

jest.setTimeout(60_000);
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'parley-programs-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Installs a program that always fails. */
const bring = (name: string) => writeFileSync(join(folder, name), '#!/bin/sh\nexit 1\n', { mode: 0o755 });

/** Output of the Redis check of `npm start` with only the installed programs on PATH. */
async function ensureRedis(): Promise<string> {
  const program = `import(${JSON.stringify(resolve('scripts/prepare/ensure-programs.mjs'))}).then((room) => room.ensureRedis(() => {})).then(() => console.log('found'), (error) => console.log(error.message))`;
  return (await promisify(execFile)(process.execPath, ['-e', program], { env: { PATH: folder } })).stdout.trim();
}

test.each([
  ['dnf', 'sudo dnf install valkey'],
  ['apk', 'sudo apk add valkey'],
  ['zypper', 'sudo zypper install valkey'],
])('names the %s install command if neither Redis nor Valkey is installed', async (manager, command) => {
  bring(manager);
  const said = await ensureRedis();
  expect(said).toContain('install redis-server or valkey-server');
  expect(said).toContain(command);
  expect(said).not.toContain('apt-get');
});

test('uses Valkey if redis-server is not installed, and redis-server otherwise', async () => {
  bring('valkey-server');
  expect(await ensureRedis()).toBe('found');
  expect(findRedisProgram(folder)).toBe(join(folder, 'valkey-server'));
  symlinkSync('valkey-server', join(folder, 'redis-server'));
  expect(findRedisProgram(folder)).toBe(join(folder, 'redis-server'));
});

/** Looks up programs the way `src/cli/run-command.ts` and its modules do. */
const STARTS_PROGRAMS = `
import { spawnSync } from 'node:child_process';
import { findProgram, keepTrustedPath } from '../src/shared/process/trusted-path.mjs';
keepTrustedPath();
for (const name of ['ps', 'lsof', 'xdg-open']) spawnSync(name, ['--version']);
const redis = findProgram(['redis-server', 'valkey-server']);
spawnSync(redis, ['--version']);
console.log('started', redis);
`;

describe('a planted program', () => {
  const PLANTED = [
    'node',
    'npm',
    'sh',
    'redis-server',
    'valkey-server',
    'apt-get',
    'sudo',
    'brew',
    'ps',
    'lsof',
    'xdg-open',
  ];

  /** Creates a directory of programs that record each run. */
  function plant(...steps: string[]): string {
    const bin = join(folder, ...steps);
    mkdirSync(bin, { recursive: true });
    for (const name of PLANTED)
      writeFileSync(join(bin, name), `#!/bin/sh\necho ${name} >> '${join(folder, 'ran')}'\nexit 1\n`, { mode: 0o755 });
    return bin;
  }

  test('is not found in node_modules, a relative entry, or a directory others can write to [trusted-programs]', () => {
    const open = plant('open', 'bin');
    chmodSync(open, 0o777);
    const below = plant('writable', 'bin');
    chmodSync(join(folder, 'writable'), 0o777);
    const own = plant('own');
    const replaced = plant('replaced');
    chmodSync(join(replaced, 'redis-server'), 0o777);
    const untrusted = ['', '.', 'bin', '../bin', plant('node_modules', '.bin'), open, below];
    for (const entry of untrusted) {
      expect(findProgram(PLANTED, entry)).toBeUndefined();
      expect(findProgram('redis-server', [entry, own].join(delimiter))).toBe(join(own, 'redis-server'));
    }
    expect(findProgram('redis-server', replaced)).toBeUndefined();
    const env = { PATH: [...untrusted, own].join(delimiter) };
    keepTrustedPath(env);
    expect(env.PATH).toBe(own);
    keepTrustedPath(Object.assign(env, { PATH: '.' }));
    expect(env.PATH).toBe(['/usr/bin', '/bin'].join(delimiter));
    if (process.getuid?.() !== 0) return;
    chownSync(own, 4_711, 4_711);
    expect(findProgram('redis-server', own)).toBeUndefined();
  });

  test('is not run by npm start below a directory others can write to [trusted-programs]', async () => {
    plant('node_modules', '.bin');
    chmodSync(folder, 0o1777);
    const project = join(folder, 'project');
    for (const name of [
      'package.json',
      '.npmrc',
      'package-lock.json',
      'scripts/prepare.mjs',
      'scripts/prepare',
      'src/shared',
    ])
      cpSync(name, join(project, name), { recursive: true });
    // Marks packages and build as present, so that the preparation only looks for Redis. `main.js` then runs the programs of
    // a start.
    for (const mark of ['node_modules/.package-lock.json', 'dist/.built']) {
      mkdirSync(dirname(join(project, mark)), { recursive: true });
      writeFileSync(join(project, mark), '');
    }
    writeFileSync(join(project, 'dist', 'main.js'), STARTS_PROGRAMS);
    const npm = findProgram('npm') ?? 'npm';
    const { stdout } = await promisify(execFile)(npm, ['start', '--', '--no-open'], { cwd: project });
    expect(stdout).toMatch(/started .*\/(redis|valkey)-server/);
    expect(existsSync(join(folder, 'ran'))).toBe(false);
  });
});
