import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { describeSetting } from '../../src/bot/config/describe-settings.ts';
import { SETTING_NAMES } from '../../src/bot/config/schema.ts';
import { cutFences, codeOf, readPage } from './pages.ts';

const MAY = { use: true, models: 'all', private: true, groups: 'all' };
const PERSON = {
  ...{ username: 'ann', password: 'plain:pass-word-1', messaging: { wecom: 'ann' } },
  profile: {
    ...{ id: '1', active: true, parentIdentityInfo: { name: 'Staff', code: 'JG' } },
    attributes: { BMBM: '3100', BMMC: 'Office', XGH: '1', XM: 'Ann', objectId: 'a' },
  },
};
/** An edit of the operator at each documented path. */
const OWN: Readonly<Record<string, string>> = {
  'config/.env': 'LOG_LEVEL=warn\n',
  'config/policy.json': JSON.stringify({ rules: [{ name: 'own-rule', who: {}, may: MAY }], otherwise: { use: false } }),
  'config/scenes.json': JSON.stringify({ scenes: [{ name: 'own-scene', tools: ['who_am_i'] }] }),
  'config/tools.json': JSON.stringify({ tools: { who_am_i: { on: true } } }),
  'config/models.json': JSON.stringify([{ name: 'svc-plus' }, { name: 'svc-max' }]),
  'config/moderation-words.txt': 'falcon\n',
  'config/prompts.json': JSON.stringify({ en: [], zh: [] }),
  'config/knowledge.json': JSON.stringify({ sources: [] }),
  'config/system-prompt.md': 'You are our own bot.\n',
  'config/people.json': JSON.stringify([PERSON]),
  'config/groups.json': JSON.stringify([{ id: 'own-group', name: 'Own', members: ['ann'] }]),
  'config/Caddyfile': 'localhost\n',
  'config/slack-manifest.yaml': 'own: true\n',
};
const tracked = execFileSync('git', ['ls-files', '-z'], { encoding: 'utf8' }).split('\0').filter(Boolean);
const SHIPPED = tracked.filter((path) => /^(?:defaults|examples)\/[^/]+$/.test(path));

const root = mkdtempSync(join(tmpdir(), 'parley-upgrade-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
// The packages of the product, above the clones, whose work trees they must not change.
symlinkSync(resolve('node_modules'), join(root, 'node_modules'));

function git(cwd: string, ...args: string[]): string {
  const identity = ['-c', 'user.name=Operator', '-c', 'user.email=operator@example.org'];
  return execFileSync('git', [...identity, ...args], { cwd, encoding: 'utf8', stdio: 'pipe' }).trim();
}

function write(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
}

function commitAll(folder: string): void {
  git(folder, 'add', '--all');
  git(folder, 'commit', '-q', '-m', 'change');
}

/** A repository with the configuration files of this work tree, at the paths that `placed` gives them. */
function createOrigin(placed: (path: string) => string = (path) => path): string {
  const folder = mkdtempSync(join(root, 'origin-'));
  for (const path of tracked.filter((each) =>
    /^(?:\.gitignore$|package\.json$|config\/|defaults\/|examples\/|docs\/)/.test(each),
  ))
    cpSync(path, join(folder, placed(path)));
  git(folder, 'init', '-q', '-b', 'main');
  return folder;
}

/** A clone with the compiled product. */
function clone(origin: string): string {
  const folder = mkdtempSync(join(root, 'clone-'));
  git(root, 'clone', '-q', origin, folder);
  execFileSync('cp', ['-a', resolve('dist'), join(folder, 'dist')]);
  return folder;
}

/** What `npm run check` prints in a clone. */
function check(folder: string, ...args: string[]): string {
  const env = { PATH: process.env['PATH'], HOME: process.env['HOME'], NODE_ENV: 'test', DATA_DIR: join(root, 'data') };
  return execFileSync(process.execPath, ['dist/main.js', 'check', ...args], { cwd: folder, env, encoding: 'utf8' });
}

const ownIn = (folder: string) =>
  Object.fromEntries(
    Object.keys(OWN)
      .filter((path) => existsSync(join(folder, path)))
      .map((path) => [path, readFileSync(join(folder, path), 'utf8')]),
  );

test('Git tracks no file that the default of a setting names, and nothing else of the operator', () => {
  const named = SETTING_NAMES.map((name) => describeSetting(name).default ?? '');
  expect(tracked.filter((path) => named.includes(path))).toEqual([]);
  expect(tracked.filter((path) => path.startsWith('config/'))).toEqual(['config/.env.example']);
});

describe('git pull', () => {
  test('keeps every edit of the operator in use when all shipped files have changed', () => {
    const origin = createOrigin();
    commitAll(origin);
    const [edited, unedited] = [clone(origin), clone(origin)];
    write(edited, OWN);
    for (const path of [...SHIPPED, 'config/.env.example']) appendFileSync(join(origin, path), '\n');
    const policy = readFileSync(join(origin, 'defaults/policy.json'), 'utf8');
    write(origin, { 'defaults/policy.json': policy.replace('"staff"', '"new-shipped-rule"') });
    commitAll(origin);

    for (const folder of [edited, unedited]) git(folder, 'pull', '-q');
    expect(git(edited, 'diff', 'HEAD', '--name-only')).toBe('');
    expect(ownIn(edited)).toEqual(OWN);
    const files = SETTING_NAMES.filter((name) => /^config\/\S+$/.test(describeSetting(name).default ?? ''));
    const inUse = check(edited)
      .split('\n')
      .filter((line) => line.includes('Files'));
    expect(inUse).toEqual([expect.stringMatching(/^ok +Files +your files: /)]);
    for (const name of [...files, 'SERVICE_DIRECTORY_FILE']) expect(inUse[0]).toContain(`${name} ${edited}/config/`);
    expect(check(edited, '--as', 'JG 3100 private')).toMatch(
      /Rule +own-rule: [^]*Scene +own-scene: [^]*Tools +who_am_i\nKnowledge +none/,
    );
    expect(check(unedited, '--as', 'JG 3100 private')).toMatch(/Rule +new-shipped-rule: /);
  }, 120_000);

  test.each([
    ['uncommitted', 'docs/guide/UPGRADE.md', false],
    ['committed', 'docs/zh-CN/UPGRADE.md', true],
  ])(
    'keeps %s edits of files that were tracked, with the commands in %s',
    (_, page, isCommitted) => {
      const origin = createOrigin((path) => path.replace(/^(?:defaults|examples)\/(?=[^/]+$)/, 'config/'));
      write(origin, { '.gitignore': 'dist/\ndata/\nconfig/.env\n', 'config/slack-manifest.yaml': 'shipped: true\n' });
      commitAll(origin);
      const folder = clone(origin);
      const edits = Object.fromEntries(
        ['config/policy.json', 'config/Caddyfile', 'config/slack-manifest.yaml'].map((path) => [path, OWN[path] ?? '']),
      );
      write(folder, { 'config/.env': OWN['config/.env'] ?? '', ...edits });
      if (isCommitted) commitAll(folder);
      const next = createOrigin();
      git(origin, 'rm', '-q', '-r', '.');
      cpSync(next, origin, { recursive: true, filter: (path) => !path.endsWith('/.git') });
      commitAll(origin);

      const text = readPage(page);
      const block = cutFences(text).fences.find(({ lines }) => lines[0]?.startsWith('git diff --name-only'));
      const undo = codeOf(text).find((code) => code.startsWith('git reset --soft')) ?? '';
      if (isCommitted) execFileSync('sh', ['-c', undo], { cwd: folder });
      else expect(() => git(folder, 'pull', '-q')).toThrow(/overwritten/);
      execFileSync('sh', ['-c', block?.lines.join('\n') ?? ''], { cwd: folder, stdio: 'pipe' });
      expect(ownIn(folder)).toEqual({ 'config/.env': OWN['config/.env'], ...edits });
      expect(git(folder, 'status', '--porcelain')).toBe('');
      expect(git(folder, 'rev-parse', 'HEAD')).toBe(git(origin, 'rev-parse', 'HEAD'));
      expect(check(folder, '--as', 'JG 3100 private')).toMatch(/Rule +own-rule: /);
    },
    120_000,
  );
});
