import { accessSync, constants, existsSync, mkdirSync, realpathSync } from 'node:fs';
import { dirname } from 'node:path';
import { LocalError } from './local-error.ts';

const USABLE = constants.R_OK | constants.W_OK | constants.X_OK;

/**
 * Makes `DATA_DIR` for its owner alone (mode 0700) where it is not yet there.
 * @returns its path without symbolic links
 * @throws LocalError `data_dir_unusable`
 */
export function openDataDir(path: string): string {
  try {
    makeFolder(path);
    accessSync(path, USABLE);
    return realpathSync(path);
  } catch (cause) {
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
    return undefined;
  } catch {
    return sentenceOn(path);
  }
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
