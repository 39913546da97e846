// Cuts a release: `npm run release -- 1.2.3`. Moves the changelog's Unreleased section under the version, sets it in package.json,
// package-lock.json and the files of VERSIONED, commits and tags, and writes the package with its bill of materials and provenance
// to dist-release. Pushing and publishing are left to the caller.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { writeAttestations } from './release/attest.mjs';

/** Other files that name the version, and the lines that do. */
const VERSIONED = [
  ['ops/helm/parley/Chart.yaml', /^(version: |appVersion: ).*$/gm],
  ['docs/openapi.yaml', /^( {2}version: ).*$/m],
  ['docs/guide/DEPLOYMENT.md', /^( *newTag: ).*$/gm],
  ['docs/zh-CN/DEPLOYMENT.md', /^( *newTag: ).*$/gm],
];
const [version = ''] = process.argv.slice(2);
const git = (...args) => execFileSync('git', args, { encoding: 'utf8' }).trim();

/** The changelog with its Unreleased section moved under the version. @throws Error when nothing is unreleased */
function withRelease(changelog, newVersion, date) {
  const [head, rest] = split(changelog, '## [Unreleased]\n');
  const next = rest.search(/^## \[/m);
  const changes = (next < 0 ? rest : rest.slice(0, next)).trim();
  if (changes === '') throw new Error('CHANGELOG.md has no unreleased changes');
  const older = next < 0 ? '' : `\n${rest.slice(next)}`;
  return `${head}## [Unreleased]\n\n## [${newVersion}] - ${date}\n\n${changes}\n${older}`;
}

function split(text, mark) {
  const at = text.indexOf(mark);
  if (at < 0) throw new Error(`CHANGELOG.md has no line "${mark.trim()}"`);
  return [text.slice(0, at), text.slice(at + mark.length)];
}

function setVersion(path, change) {
  const json = JSON.parse(readFileSync(path, 'utf8'));
  change(json);
  writeFileSync(path, `${JSON.stringify(json, undefined, 2)}\n`);
}

if (import.meta.filename === process.argv[1]) {
  try {
    if (!/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version)) throw new Error('Usage: npm run release -- MAJOR.MINOR.PATCH');
    if (git('status', '--porcelain') !== '') throw new Error('The work tree has uncommitted changes');
    if (git('tag', '--list', `v${version}`) !== '') throw new Error(`The tag v${version} already exists`);
    const date = new Date().toISOString().slice(0, 10);
    writeFileSync('CHANGELOG.md', withRelease(readFileSync('CHANGELOG.md', 'utf8'), version, date));
    setVersion('package.json', (json) => (json.version = version));
    setVersion('package-lock.json', (json) => {
      json.version = version;
      json.packages[''].version = version;
    });
    for (const [path, lines] of VERSIONED)
      writeFileSync(path, readFileSync(path, 'utf8').replace(lines, `$1${version}`));
    git('add', 'CHANGELOG.md', 'package.json', 'package-lock.json', ...VERSIONED.map(([path]) => path));
    git('commit', '-m', `chore(release): ${version}`);
    git('tag', '-a', `v${version}`, '-m', `Parley ${version}`);
    const remotes = git('remote').split('\n');
    const origin = remotes.includes('origin')
      ? git('remote', 'get-url', 'origin').replace(/\/\/[^/@]*@/, '//')
      : 'local';
    const files = writeAttestations({ version, commit: git('rev-parse', 'HEAD'), origin });
    process.stdout.write(`${files.join('\n')}\n`);
    process.stdout.write(`Tagged v${version}. Run \`npm run verify\`, then push the commit and the tag.\n`);
  } catch (error) {
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  }
}
