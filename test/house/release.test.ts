import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, test } from '@jest/globals';

const CHANGELOG =
  '# Changelog\n\n## [Unreleased]\n\n### Added\n\n- A thing.\n\n## [0.1.0] - 2026-01-01\n\n- The first.\n';

function repository(changelog = CHANGELOG) {
  const folder = mkdtempSync(join(tmpdir(), 'release-'));
  const git = (...args: string[]) => execFileSync('git', args, { cwd: folder, encoding: 'utf8' }).trim();
  const read = (name: string) => readFileSync(join(folder, name), 'utf8');
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
  write('CHANGELOG.md', changelog);
  write('package.json', '{ "name": "parley", "version": "0.1.0" }');
  write('package-lock.json', '{ "version": "0.1.0", "packages": { "": { "version": "0.1.0" } } }');
  git('init', '-q');
  git('config', 'user.email', 'release@example.org');
  git('config', 'user.name', 'Release');
  git('add', '.');
  git('commit', '-q', '-m', 'chore: begin');
  const release = (...args: string[]) =>
    spawnSync(process.execPath, [resolve('scripts/release.mjs'), ...args], { cwd: folder, encoding: 'utf8' });
  return { git, read, write, release };
}

test('a release sets the version, moves the unreleased changes under it, commits and tags', () => {
  const { git, read, release } = repository();
  expect(release('0.2.0')).toMatchObject({ status: 0, stderr: '' });
  const date = new Date().toISOString().slice(0, 10);
  expect(read('CHANGELOG.md')).toBe(
    CHANGELOG.replace('## [Unreleased]\n', `## [Unreleased]\n\n## [0.2.0] - ${date}\n`),
  );
  expect(JSON.parse(read('package.json'))).toMatchObject({ version: '0.2.0' });
  expect(JSON.parse(read('package-lock.json'))).toEqual({ version: '0.2.0', packages: { '': { version: '0.2.0' } } });
  expect(git('log', '-1', '--format=%s')).toBe('chore(release): 0.2.0');
  expect(git('describe', '--exact-match')).toBe('v0.2.0');
  expect(git('status', '--porcelain')).toBe('');
});

test.each([
  ['a version that is not MAJOR.MINOR.PATCH', ['2'], CHANGELOG, 'Usage: npm run release -- MAJOR.MINOR.PATCH'],
  ['no unreleased changes', ['0.2.0'], '# Changelog\n\n## [Unreleased]\n', 'CHANGELOG.md has no unreleased changes'],
])('a release is refused, and nothing is committed: %s', (_name, args, changelog, message) => {
  const { git, release } = repository(changelog);
  expect(release(...args)).toMatchObject({ status: 1, stderr: `${message}\n` });
  expect(git('log', '--format=%s')).toBe('chore: begin');
});

test('a release is refused while the work tree has uncommitted changes', () => {
  const { write, release } = repository();
  write('package.json', '{}');
  expect(release('0.2.0')).toMatchObject({ status: 1, stderr: 'The work tree has uncommitted changes\n' });
});
