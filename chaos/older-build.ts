import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { atExit } from './at-exit.ts';

const COPIED_FILES = /\.(lua|css|html|svg|png|mjs)$/;

/**
 * Builds the program of a commit of this repository, with the currently installed packages.
 * @returns its entry point for node; it is removed when the testbed exits @throws Error if the build fails
 */
export function buildOlder(commit: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'parley-older-'));
  atExit(() => rmSync(folder, { recursive: true, force: true }));
  const archive = join(folder, 'source.tar');
  // Builds of before `defaults/` read their files from `config/`, which the testbed names.
  const shipped = execFileSync('git', ['ls-tree', '--name-only', commit, 'defaults', 'examples'], { encoding: 'utf8' });
  const parts = ['src', 'package.json', 'tsconfig.json', 'tsconfig.build.json', ...shipped.split('\n').filter(Boolean)];
  execFileSync('git', ['archive', '-o', archive, commit, ...parts]);
  execFileSync('tar', ['-x', '-f', archive, '-C', folder]);
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'));
  const dist = join(folder, 'dist');
  const compiler = resolve('node_modules/typescript/bin/tsc');
  const compiled = spawnSync(process.execPath, [compiler, '-p', 'tsconfig.build.json', '--noCheck', '--outDir', dist], {
    cwd: folder,
    encoding: 'utf8',
  });
  if (compiled.status !== 0) throw new Error(`The older build failed: ${compiled.stdout}${compiled.stderr}`);
  for (const path of readdirSync(join(folder, 'src'), { recursive: true }) as string[]) {
    const source = join(folder, 'src', path);
    if (!COPIED_FILES.test(path) || !statSync(source).isFile()) continue;
    mkdirSync(join(dist, path, '..'), { recursive: true });
    cpSync(source, join(dist, path));
  }
  return join(dist, 'main.js');
}
