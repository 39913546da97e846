import { accessSync, constants, existsSync, mkdirSync, realpathSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { LocalError } from './local-error.ts';

const WRITABLE_BY_ALL = 0o002;
const USABLE = constants.R_OK | constants.W_OK | constants.X_OK;

/**
 * Creates `DATA_DIR` for its owner only (mode 0700) if it does not exist.
 * @returns its path without symbolic links
 * @throws LocalError `data_dir_unusable`, also for a folder that other users could read or write (SECURITY.md own-data-dir)
 */
export function openDataDir(path: string): string {
  try {
    makeFolder(path);
    accessSync(path, USABLE);
    const whole = realpathSync(path);
    const fault = faultOfOwner(path);
    if (fault !== undefined) throw new LocalError('data_dir_unusable', fault);
    return whole;
  } catch (cause) {
    if (cause instanceof LocalError) throw cause;
    throw new LocalError('data_dir_unusable', sentenceOn(path), { cause });
  }
}

/**
 * The fault of `DATA_DIR` that a start would report, as far as it can be found without creating anything. Undefined if it is
 * usable.
 */
export function faultOfDataDir(path: string): string | undefined {
  let nearest = path;
  while (!existsSync(nearest) && dirname(nearest) !== nearest) nearest = dirname(nearest);
  try {
    accessSync(nearest, USABLE);
    // Fails for a file, and only for a file.
    accessSync(`${nearest}/.`, USABLE);
    return nearest === path ? faultOfOwner(path) : undefined;
  } catch {
    return sentenceOn(path);
  }
}

/** The keys in it decrypt all stored data. Other users may list it: the files themselves have mode 0600. */
function faultOfOwner(path: string): string | undefined {
  const { uid, mode } = statSync(path);
  // Root may own it, as it does with container volumes: root can read everything anyway.
  if (uid !== 0 && uid !== (process.getuid?.() ?? uid))
    return `The folder ${path} belongs to another user: set DATA_DIR to one of your own, or change its owner with chown`;
  if ((mode & WRITABLE_BY_ALL) !== 0)
    return `Every user can write to the folder ${path}: run chmod 700 ${path}, or set DATA_DIR to another folder`;
  return undefined;
}

function sentenceOn(path: string): string {
  return `The folder ${path} is not writable: set DATA_DIR to a writable folder`;
}

/** Creates one level at a time: `recursive` never returns where the system creates directories itself, as below /proc. */
function makeFolder(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return;
    if (code !== 'ENOENT' || dirname(path) === path) throw error;
    makeFolder(dirname(path));
    mkdirSync(path, { mode: 0o700 });
  }
}
