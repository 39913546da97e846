import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative, resolve } from 'node:path';

/** The files of an image as a folder, built by the Dockerfile's steps, with its start command. */
export interface Image {
  folder: string;
  env: Record<string, string>;
  command: string[];
  /** The command of the health check. */
  healthCommand: string[];
  user: number;
}

/** Wraps a command so that it runs as the image's user, even if the test runs as another one. */
export function asUserOf(image: Image, [program = '', ...args]: readonly string[]): string[] {
  const whole = [program === 'node' ? process.execPath : program, ...args];
  const isRoot = process.getuid?.() === 0;
  return isRoot ? ['setpriv', `--reuid=${image.user}`, `--regid=${image.user}`, '--clear-groups', ...whole] : whole;
}

interface Stage {
  name: string;
  lines: [word: string, rest: string][];
}

const INSTALL = /^npm ci\b/;
const PRUNE = /^npm prune --omit=dev\b/;

/** The build context: .dockerignore excludes everything except lines with an exclamation mark. */
function buildContext(): (path: string) => boolean {
  const lines = readFileSync('.dockerignore', 'utf8').split('\n').filter(Boolean);
  if (lines[0] !== '*') throw new Error('.dockerignore is expected to keep out all that it does not let in');
  const allowed = lines.slice(1).map((line) => line.replace(/^!/, '').replaceAll('*', '[^/]*'));
  return (path) => allowed.some((pattern) => new RegExp(`^${pattern}(/|$)`).test(path));
}

function stagesOf(dockerfile: string): Stage[] {
  const stages: Stage[] = [];
  for (const line of dockerfile
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .filter(Boolean)) {
    const [, word = '', rest = ''] = /^(\S+) (.*)$/.exec(line) ?? [];
    if (word === 'FROM') stages.push({ name: / AS (\S+)$/.exec(rest)?.[1] ?? '', lines: [] });
    else stages.at(-1)?.lines.push([word, rest]);
  }
  return stages;
}

function stagesOfImage(): Stage[] {
  return stagesOf(readFileSync('Dockerfile', 'utf8'));
}

/** Whether the image contains a project file: the Dockerfile copies it, and the build context includes it. */
export function imageHolds(path: string): boolean {
  const lines = stagesOfImage().at(-1)?.lines ?? [];
  const copied = lines.flatMap(([word, rest]) =>
    word === 'COPY' && !rest.startsWith('--from=') ? rest.split(' ').slice(0, -1) : [],
  );
  return copied.some((each) => path === each || path.startsWith(`${each}/`)) && buildContext()(path);
}

/** Folders that the image creates for its user to write to, as mount points of volumes. */
export function foldersForVolumes(): string[] {
  const lines = stagesOfImage().at(-1)?.lines ?? [];
  return lines.flatMap(([word, rest]) =>
    word === 'RUN' ? (/^install -d -o \d+ -g \d+ (\S+)$/.exec(rest)?.[1] ?? []) : [],
  );
}

/** Runs the lines of each stage as plain processes; the packages come from this project's own folder. */
export function buildImage(): Image {
  const root = mkdtempSync(join(tmpdir(), 'parley-image-'));
  const image: Image = { folder: '', env: {}, command: [], healthCommand: [], user: 0 };
  const folders = new Map<string, string>();
  for (const { name, lines } of stagesOfImage()) {
    const folder = join(root, name || 'last', 'app');
    mkdirSync(folder, { recursive: true });
    folders.set(name, folder);
    Object.assign(image, { folder, env: {}, command: [], healthCommand: [], user: 0 });
    for (const [word, rest] of lines) {
      if (word === 'COPY') copy(rest, folder, folders);
      else if (word === 'RUN') for (const step of rest.split('&&')) run(step.trim(), folder);
      else if (word === 'ENV') Object.assign(image.env, Object.fromEntries([rest.split('=')]));
      else if (word === 'USER') image.user = Number(rest.split(':')[0]);
      else if (word === 'CMD') image.command = JSON.parse(rest) as string[];
      else if (word === 'HEALTHCHECK') image.healthCommand = JSON.parse(rest.slice(rest.indexOf('['))) as string[];
      else if (!['WORKDIR', 'EXPOSE', 'ARG', 'LABEL'].includes(word))
        throw new Error(`The test does not know ${word} of a Dockerfile`);
    }
  }
  return image;
}

function copy(rest: string, folder: string, folders: ReadonlyMap<string, string>): void {
  const [, stage] = /^--from=(\S+) /.exec(rest) ?? [];
  const words = rest.replace(/^--from=\S+ /, '').split(' ');
  const target = words.pop() ?? '';
  const from = stage === undefined ? process.cwd() : (folders.get(stage) as string);
  const isSent = stage === undefined ? buildContext() : () => true;
  for (const word of words.flatMap((each) => namesOf(each.replace(/^\/app\//, ''), from))) {
    const source = join(from, word);
    if (!existsSync(source) || !isSent(word)) throw new Error(`COPY ${word}: nothing of it is in the build`);
    const to = target.endsWith('/') ? join(folder, target, basename(word)) : join(folder, target);
    mkdirSync(dirname(to), { recursive: true });
    // An earlier stage has only the packages of the image, and is not used again.
    if (word === 'node_modules') renameSync(source, to);
    else cpSync(source, to, { recursive: true, filter: (path) => isSent(relative(from, path)) });
  }
}

/** The files that match a pattern such as `tsconfig*.json`. */
function namesOf(word: string, from: string): string[] {
  if (!word.includes('*')) return [word];
  return execFileSync('sh', ['-c', `ls -d ${word}`], { cwd: from, encoding: 'utf8' })
    .trim()
    .split('\n');
}

function run(step: string, folder: string): void {
  if (INSTALL.test(step)) symlinkSync(resolve('node_modules'), join(folder, 'node_modules'));
  else if (PRUNE.test(step)) copyPackages(resolve('node_modules'), join(folder, 'node_modules'));
  else if (step.startsWith('install -d ')) return;
  else execFileSync('sh', ['-c', step], { cwd: folder, stdio: 'pipe' });
}

/** Copies the packages that `npm prune --omit=dev` keeps by the lock file, including nested ones. */
function copyPackages(source: string, to: string): void {
  execFileSync('rm', ['-rf', to]);
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
    packages: Record<string, { dev?: boolean; devOptional?: boolean }>;
  };
  const names = Object.entries(packages)
    .filter(([path, { dev }]) => path !== '' && dev !== true)
    .map(([path]) => path.replace(/^node_modules\//, ''))
    .filter((name) => !name.includes('node_modules/') && existsSync(join(source, name)));
  for (const scope of new Set(names.map((name) => dirname(name)))) {
    const inScope = names.filter((name) => dirname(name) === scope);
    mkdirSync(join(to, scope), { recursive: true });
    execFileSync('cp', ['-a', ...inScope.map((name) => join(source, name)), join(to, scope)]);
  }
}
