import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, test } from '@jest/globals';

const CHANGELOG =
  '# Changelog\n\n## [Unreleased]\n\n### Added\n\n- A thing.\n\n## [0.1.0] - 2026-01-01\n\n- The first.\n';

const PACKAGES = { dependencies: { koa: '3.3.0' }, devDependencies: { jest: '30.5.2' } };
const LOCK = {
  ...{ name: 'parley', version: '0.1.0', lockfileVersion: 3 },
  packages: {
    '': { name: 'parley', version: '0.1.0', ...PACKAGES },
    'node_modules/jest': { version: '30.5.2', dev: true },
    'node_modules/koa': { version: '3.3.0', license: 'MIT' },
  },
};

/** Files that name the version. */
const VERSIONED: Record<string, (version: string) => string> = {
  'ops/helm/parley/Chart.yaml': (version) => `name: parley\nversion: ${version}\nappVersion: ${version}\n`,
  'docs/openapi.yaml': (version) => `info:\n  version: ${version}\npaths:\n    version: 1\n`,
  'docs/guide/DEPLOYMENT.md': (version) => `images:\n  - name: parley\n    newTag: ${version}\n`,
  'docs/zh-CN/DEPLOYMENT.md': (version) => `newTag: ${version}\n`,
};

function repository(changelog = CHANGELOG) {
  const folder = mkdtempSync(join(tmpdir(), 'release-'));
  const git = (...args: string[]) => execFileSync('git', args, { cwd: folder, encoding: 'utf8' }).trim();
  const read = (name: string) => readFileSync(join(folder, name), 'utf8');
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
  write('CHANGELOG.md', changelog);
  write('package.json', JSON.stringify({ name: 'parley', version: '0.1.0', files: ['CHANGELOG.md'], ...PACKAGES }));
  write('.gitignore', 'dist-*/\n');
  mkdirSync(join(folder, 'ops/helm/parley'), { recursive: true });
  for (const path of ['docs/guide', 'docs/zh-CN']) mkdirSync(join(folder, path), { recursive: true });
  for (const [path, text] of Object.entries(VERSIONED)) write(path, text('0.1.0'));
  write('package-lock.json', JSON.stringify(LOCK));
  git('init', '-q');
  git('config', 'user.email', 'release@example.org');
  git('config', 'user.name', 'Release');
  git('add', '.');
  git('commit', '-q', '-m', 'chore: begin');
  const release = (...args: string[]) =>
    spawnSync(process.execPath, [resolve('scripts/release.mjs'), ...args], { cwd: folder, encoding: 'utf8' });
  return { folder, git, read, write, release };
}

test('a release sets the version, moves the unreleased changes under it, commits and tags', () => {
  const { git, read, release } = repository();
  expect(release('0.2.0')).toMatchObject({ status: 0, stderr: '' });
  const date = new Date().toISOString().slice(0, 10);
  expect(read('CHANGELOG.md')).toBe(
    CHANGELOG.replace('## [Unreleased]\n', `## [Unreleased]\n\n## [0.2.0] - ${date}\n`),
  );
  expect(JSON.parse(read('package.json'))).toMatchObject({ version: '0.2.0' });
  expect(JSON.parse(read('package-lock.json'))).toMatchObject({
    version: '0.2.0',
    packages: { '': { version: '0.2.0' } },
  });
  for (const [path, text] of Object.entries(VERSIONED)) expect(read(path)).toBe(text('0.2.0'));
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

interface Bom {
  bomFormat: string;
  metadata: { component: { name: string; version: string } };
  components: { name: string; version: string }[];
}

interface Statement {
  subject: { name: string; digest: { sha256: string } }[];
  predicateType: string;
  predicate: { buildDefinition: { resolvedDependencies: { uri: string; digest: Record<string, string> }[] } };
}

test('a release has a package, a bill of materials of what runs, and a provenance with their hashes', () => {
  const { folder, git, read, release } = repository();
  git('remote', 'add', 'origin', 'https://user:password@git.example.org/parley.git');
  expect(release('0.2.0')).toMatchObject({ status: 0, stderr: '' });
  const bom = JSON.parse(read('dist-release/parley-0.2.0.cdx.json')) as Bom;
  expect(bom).toMatchObject({
    bomFormat: 'CycloneDX',
    metadata: { component: { name: 'parley', version: '0.2.0' } },
  });
  expect(bom.components.map(({ name, version }) => `${name}@${version}`)).toEqual(['koa@3.3.0']);

  const text = read('dist-release/parley-0.2.0.provenance.json');
  const statement = JSON.parse(text) as Statement;
  const hashOf = (name: string) =>
    createHash('sha256')
      .update(readFileSync(join(folder, name)))
      .digest('hex');
  expect(statement.subject).toEqual(
    ['parley-0.2.0.tgz', 'parley-0.2.0.cdx.json'].map((name) => ({
      name,
      digest: { sha256: hashOf(`dist-release/${name}`) },
    })),
  );
  expect(statement.predicateType).toBe('https://slsa.dev/provenance/v1');
  expect(statement.predicate.buildDefinition.resolvedDependencies).toEqual([
    { uri: 'git+https://git.example.org/parley.git', digest: { gitCommit: git('rev-parse', 'v0.2.0^{commit}') } },
    { uri: 'package-lock.json', digest: { sha256: hashOf('package-lock.json') } },
  ]);
  expect(text).not.toContain('password');
}, 60_000);
