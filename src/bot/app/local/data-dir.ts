import { accessSync, constants, existsSync, mkdirSync, realpathSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { LocalError } from './local-error.ts';

const WRITABLE_BY_ALL = 0o002;
const USABLE = constants.R_OK | constants.W_OK | constants.X_OK;

/**
 * Makes `DATA_DIR` for its owner alone (mode 0700) where it is not yet there.
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

/** What a start would say of `DATA_DIR`, as far as it can be seen without making anything; undefined when it can be used. */
export function faultOfDataDir(path: string): string | undefined {
  let nearest = path;
  while (!existsSync(nearest) && dirname(nearest) !== nearest) nearest = dirname(nearest);
  try {
    accessSync(nearest, USABLE);
    // Of a file, and only of a file, this can be asked and is refused.
    accessSync(`${nearest}/.`, USABLE);
    return nearest === path ? faultOfOwner(path) : undefined;
  } catch {
    return sentenceOn(path);
  }
}

/** Its keys open everything that is kept. Others may look in: the files themselves have mode 0600. */
function faultOfOwner(path: string): string | undefined {
  const { uid, mode } = statSync(path);
  // Root may own it, as it owns the volumes of containers: it can read everything anyway.
  if (uid !== 0 && uid !== (process.getuid?.() ?? uid))
    return `The folder ${path} belongs to another user: set DATA_DIR to one of your own, or change its owner with chown`;
  if ((mode & WRITABLE_BY_ALL) !== 0)
    return `The folder ${path} can be written by every user: run chmod 700 ${path}, or set DATA_DIR to another folder`;
  return undefined;
}

function sentenceOn(path: string): string {
  return `The folder ${path} cannot be used: set DATA_DIR to one that can be written`;
}

/** Level by level: `recursive` never returns where the system makes folders itself, as below /proc. */
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
