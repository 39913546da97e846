import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parse } from 'dotenv';
import { fault, type Fault } from './fault.ts';
import { SETTING_NAMES, settingsSchema, type SettingName } from './schema.ts';
import { settingInfo } from './setting.ts';

/** Names and values as in a process environment. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Values of all settings that are given. An empty one marks a forgotten value or an unusable secret file. */
export interface GivenValues {
  texts: Partial<Record<SettingName, string>>;
  /** Content of the settings file, for warnings about unknown names. */
  file: Environment;
  faults: Fault[];
  /** The settings file as written. */
  fileText: string;
  /** Warnings about empty names in the process environment, and about a settings file in the wrong place. */
  warnings: string[];
}

const DEFAULT_FILE = 'config/.env';

/** Settings whose value may be in a separate file, named by `NAME_FILE`. */
export const SECRET_NAMES = SETTING_NAMES.filter((name) => settingInfo.get(settingsSchema.shape[name])?.isSecret);

/** Many programs also use these names in lower case. */
const PROXY_NAMES: ReadonlySet<string> = new Set<SettingName>(['HTTPS_PROXY', 'HTTP_PROXY', 'NO_PROXY']);

/**
 * Collects the values of settings: the process environment first, then the settings file. A secret may come from `NAME_FILE`
 * instead. A name without a value is a fault in the file, where the value was forgotten. In the environment it counts as
 * unset, because container tools pass empty names for unset variables (`NAME=${NAME}`).
 */
export function readValues(env: Environment, cwd: string): GivenValues {
  const { file, path, faults, fileText, warnings: unreadable } = readSettingsFile(env, cwd);
  const texts = { ...pickSettings(file, cwd, faults), ...pickSettings(env, cwd, faults) };
  const forgotten = emptyNames(file).filter((name) => texts[name] === undefined);
  for (const name of forgotten) {
    texts[name] = '';
    faults.push(fault(name, `has no value in ${path}: ${adviceOn(name)}, or remove the line`));
  }
  const warnings = emptyNames(env)
    .filter((name) => texts[name] === undefined)
    .map((name) => `${name} is empty in the process environment and counts as unset`);
  return { texts, file, fileText, faults, warnings: [...unreadable, ...misplacedFile(env, cwd, path), ...warnings] };
}

function readSettingsFile(
  env: Environment,
  cwd: string,
): { file: Environment; fileText: string; path: string; faults: Fault[]; warnings: string[] } {
  const named = env['ENV_FILE'] === '' ? undefined : env['ENV_FILE'];
  const path = resolve(cwd, named ?? DEFAULT_FILE);
  try {
    // Some editors write a byte order mark at the start of a file.
    const fileText = readFileSync(path, 'utf8').replace(/^\uFEFF/, '');
    return { file: parse(fileText), fileText, path, faults: [], warnings: [] };
  } catch (error) {
    return { file: {}, fileText: '', path, ...judgeUnreadable(error, path, { named, env }) };
  }
}

/** Settings of which the environment of a container that was given all settings has at least one. */
const SIGNS_OF_SETTINGS = ['ROLES', 'SECRET_KEY', 'SECRET_KEY_FILE', 'REDIS_URL', 'REDIS_URL_FILE'];

/**
 * An existing file that cannot be read would be ignored entirely. Container tools often read a file that only its owner may
 * read, and pass its settings in the environment.
 */
function judgeUnreadable(
  error: unknown,
  path: string,
  { named, env }: { named: string | undefined; env: Environment },
): { faults: Fault[]; warnings: string[] } {
  const { code = '' } = error as NodeJS.ErrnoException;
  const ofFile = (message: string) => ({ faults: [fault('ENV_FILE', message)], warnings: [] });
  if (named !== undefined)
    return ofFile(`names ${path}, which cannot be read (${code}): correct the path, or unset it`);
  if (code === 'ENOENT' || code === 'ENOTDIR') return { faults: [], warnings: [] };
  if (SIGNS_OF_SETTINGS.some((name) => (env[name] ?? '').trim() !== ''))
    return { faults: [], warnings: [`${path} cannot be read (${code}): only settings in the environment apply`] };
  return ofFile(`is not set, and ${path} cannot be read (${code}): give this user read permission`);
}

/**
 * Many programs read `.env` from their directory. Settings written there have no effect, and Parley would run in local mode
 * without an explanation.
 */
function misplacedFile(env: Environment, cwd: string, path: string): string[] {
  const misplaced = join(cwd, '.env');
  if (env['ENV_FILE'] || existsSync(path) || !existsSync(misplaced)) return [];
  const { file } = readSettingsFile({ ENV_FILE: misplaced }, cwd);
  if (!SETTING_NAMES.some((name) => file[name] !== undefined)) return [];
  return [`${misplaced} is not read: move it to ${path}, or set ENV_FILE=.env`];
}

function emptyNames(source: Environment): SettingName[] {
  return SETTING_NAMES.filter(
    (name) => source[name]?.trim() === '' && settingInfo.get(settingsSchema.shape[name])?.isNoneWhenEmpty !== true,
  );
}

function adviceOn(name: SettingName): string {
  return name === 'SECRET_KEY' ? 'create one with openssl rand -base64 32' : 'set a value';
}

function pickSettings(source: Environment, cwd: string, faults: Fault[]): Partial<Record<SettingName, string>> {
  const texts: Partial<Record<SettingName, string>> = {};
  for (const name of SETTING_NAMES) {
    const value = source[name] ?? (PROXY_NAMES.has(name) ? source[name.toLowerCase()] : undefined);
    if (value !== undefined && value.trim() !== '') texts[name] = value;
  }
  for (const name of SECRET_NAMES) {
    const path = source[`${name}_FILE`];
    if (path === undefined || path.trim() === '') continue;
    if (texts[name] !== undefined)
      faults.push(fault(`${name}_FILE`, `is set together with ${name}: keep one of the two`));
    else texts[name] = readSecretFile(name, resolve(cwd, path), faults);
  }
  return texts;
}

function readSecretFile(name: SettingName, path: string, faults: Fault[]): string {
  try {
    const content = readFileSync(path, 'utf8').trim();
    if (content === '') faults.push(fault(`${name}_FILE`, 'names an empty file: write the value into it'));
    return content;
  } catch {
    faults.push(
      fault(`${name}_FILE`, 'names a file that cannot be read: correct the path or the permissions of the file'),
    );
    return '';
  }
}
