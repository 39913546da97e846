import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import { readValues, SECRET_NAMES, type Environment } from '../../bot/config/read-values.ts';

/** Values by setting; `undefined` removes a setting. */
export type Changes = Readonly<Record<string, string | undefined>>;

const HEAD = '# Written by `npm run setup`. docs/SETTINGS.md lists all settings.\n';
const PLAIN = /^[\w.:/@%+=,~-]+$/;

/** The setting that names a file with a secret. */
export function secretFile(name: string): string {
  return `${name}_FILE`;
}

/** The settings file that setup completes: `config/.env`, or the file named by `ENV_FILE`. Only its owner can read it. */
export class SettingsFile {
  readonly path: string;
  readonly #cwd: string;

  constructor(env: Environment, cwd: string) {
    this.#cwd = cwd;
    const named = env['ENV_FILE'] ?? '';
    this.path = resolve(cwd, named === '' ? 'config/.env' : named);
  }

  /** The values in the file; none if it does not exist. */
  read(path = this.path): Environment {
    return readValues({ ENV_FILE: path }, this.#cwd).file;
  }

  /** The secrets for which the file names files of their own, such as `SECRET_KEY_FILE`; empty if these cannot be read. */
  readSecretFiles(): Environment {
    const { file, texts } = readValues({ ENV_FILE: this.path }, this.#cwd);
    const names = SECRET_NAMES.filter((name) => (file[secretFile(name)] ?? '') !== '');
    return Object.fromEntries(names.map((name) => [name, texts[name]]));
  }

  /**
   * Changes settings and keeps everything else, comments included. The file is replaced in one step.
   * @throws Error if a value or the existing file has a form that cannot be edited; the file is unchanged then
   */
  write(changes: Changes): void {
    mkdirSync(dirname(this.path), { recursive: true });
    const before = this.read();
    // The file behind a symbolic link is replaced, not the link.
    const path = existsSync(this.path) ? realpathSync(this.path) : this.path;
    const draft = `${path}.${process.pid}`;
    try {
      writeFileSync(draft, withChanges(this.#text(), changes), { mode: 0o600 });
      const after = this.read(draft);
      const wanted: Environment = { ...before, ...changes };
      const names = [...new Set([...Object.keys(wanted), ...Object.keys(after)])];
      const spoiled = names.filter((name) => after[name] !== wanted[name]);
      if (spoiled.length > 0) throw new Error(`${this.path} cannot be edited: write ${spoiled.join(', ')} yourself`);
      chmodSync(draft, 0o600);
      renameSync(draft, path);
    } finally {
      rmSync(draft, { force: true });
    }
  }

  #text(): string {
    try {
      return readFileSync(this.path, 'utf8').replace(/^\uFEFF/, '');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return HEAD;
      throw error;
    }
  }
}

/** Replaces the lines of the changed settings, or adds them at the end. */
function withChanges(text: string, changes: Changes): string {
  const left = new Map(Object.entries(changes));
  const lines = text.split('\n').flatMap((line) => {
    const name = /^\s*(?:export\s+)?([A-Z][A-Z0-9_]*)\s*=/.exec(line)?.[1];
    if (name === undefined || !(name in changes)) return [line];
    const value = left.get(name);
    left.delete(name);
    return value === undefined ? [] : [lineOf(name, value)];
  });
  if (lines.at(-1) === '') lines.pop();
  const added = [...left].flatMap(([name, value]) => (value === undefined ? [] : [lineOf(name, value)]));
  return `${[...lines, ...added].join('\n')}\n`;
}

function lineOf(name: string, value: string): string {
  if (PLAIN.test(value)) return `${name}=${value}`;
  const quote = ["'", '`', '"'].find((mark) => !value.includes(mark)) ?? "'";
  return `${name}=${quote}${value}${quote}`;
}
