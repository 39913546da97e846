import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parse } from 'dotenv';
import { fault, type Fault } from './fault.ts';
import { SETTING_NAMES, settingsSchema, type SettingName } from './schema.ts';
import { settingInfo } from './setting.ts';

/** Names and texts as a process environment holds them. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The texts of the settings that are given somewhere; an empty one marks a value that was forgotten, or a secret whose file was no use. */
export interface GivenValues {
  texts: Partial<Record<SettingName, string>>;
  /** What the settings file holds, for the warnings about unknown names. */
  file: Environment;
  faults: Fault[];
  /** The settings file as it was written. */
  fileText: string;
  /** Sentences about names that are empty in the process environment, and about a file that lies where none is read. */
  warnings: string[];
}

const DEFAULT_FILE = 'config/.env';

/** Settings whose value may also lie in a file of its own, which `NAME_FILE` names. */
export const SECRET_NAMES = SETTING_NAMES.filter((name) => settingInfo.get(settingsSchema.shape[name])?.isSecret);

/** Many programs write and read these in small letters. */
const PROXY_NAMES: ReadonlySet<string> = new Set<SettingName>(['HTTPS_PROXY', 'HTTP_PROXY', 'NO_PROXY']);

/**
 * Collects the settings' texts: the process environment first, then the settings file. A secret's `NAME_FILE` stands where its
 * value would. Who writes a name into the file and nothing behind it has forgotten the value; an environment holds empty names
 * also for what nobody set (a container tool's `NAME=${NAME}`), so that there they are absent.
 */
export function readValues(env: Environment, cwd: string): GivenValues {
  const { file, path, faults, fileText } = readSettingsFile(env, cwd);
  const texts = { ...pickSettings(file, cwd, faults), ...pickSettings(env, cwd, faults) };
  const forgotten = emptyNames(file).filter((name) => texts[name] === undefined);
  for (const name of forgotten) {
    texts[name] = '';
    faults.push(fault(name, `is written without a value in ${path}: ${adviceOn(name)}, or remove the line`));
  }
  const warnings = emptyNames(env)
    .filter((name) => texts[name] === undefined)
    .map((name) => `${name} is empty in the process environment: it counts as unset`);
  return { texts, file, fileText, faults, warnings: [...misplacedFile(env, cwd, path), ...warnings] };
}

function readSettingsFile(
  env: Environment,
  cwd: string,
): { file: Environment; fileText: string; path: string; faults: Fault[] } {
  const named = env['ENV_FILE'] === '' ? undefined : env['ENV_FILE'];
  const path = resolve(cwd, named ?? DEFAULT_FILE);
  try {
    // Some editors begin a file with a mark that is no letter of the first name.
    const fileText = readFileSync(path, 'utf8').replace(/^\uFEFF/, '');
    return { file: parse(fileText), fileText, path, faults: [] };
  } catch (error) {
    return { file: {}, fileText: '', path, faults: faultsOfReading(error, path, { named, env }) };
  }
}

/** A file that is there and cannot be read would be forgotten as a whole; a container that was given its ROLES was given the rest too. */
function faultsOfReading(
  error: unknown,
  path: string,
  { named, env }: { named: string | undefined; env: Environment },
): Fault[] {
  const { code = '' } = error as NodeJS.ErrnoException;
  if (named !== undefined)
    return [fault('ENV_FILE', `names ${path}, which cannot be read (${code}): correct the path, or unset it`)];
  if (code === 'ENOENT' || code === 'ENOTDIR' || env['ROLES']) return [];
  return [fault('ENV_FILE', `is not set, and ${path} cannot be read (${code}): give this user the right to read it`)];
}

/** Many programs read `.env` beside them; who wrote our settings there would find local mode running and not know why. */
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
  return name === 'SECRET_KEY' ? 'make one with openssl rand -base64 32' : 'give it one';
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
    if (texts[name] !== undefined) faults.push(fault(`${name}_FILE`, `is set beside ${name}: keep one of the two`));
    else texts[name] = readSecretFile(name, resolve(cwd, path), faults);
  }
  return texts;
}

function readSecretFile(name: SettingName, path: string, faults: Fault[]): string {
  try {
    const content = readFileSync(path, 'utf8').trim();
    if (content === '') faults.push(fault(`${name}_FILE`, 'names an empty file: put the value into it'));
    return content;
  } catch {
    faults.push(fault(`${name}_FILE`, 'names a file that cannot be read: correct the path, or its rights'));
    return '';
  }
}
