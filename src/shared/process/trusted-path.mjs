// Which programs may be run at start (SECURITY.md trusted-programs). Plain JavaScript, because the preparation needs it
// before a build.
import { accessSync, constants, realpathSync, statSync } from 'node:fs';
import { delimiter, dirname, isAbsolute, join, sep } from 'node:path';

const WRITABLE_BY_ALL = 0o002;
const STICKY = 0o1000;

/**
 * The directories of a PATH in which only root, the user and the owner of this Node can place programs. npm prepends
 * `node_modules/.bin` of every directory above the project, and an empty or relative entry means the current directory. If
 * others can write to such a directory, it may contain another user's program.
 */
export function trustedFolders(path = process.env.PATH ?? '') {
  const entries = path
    .split(delimiter)
    .filter((entry) => isAbsolute(entry) && !entry.split(sep).includes('node_modules'));
  return [...new Set(entries)].filter(isTrusted);
}

/** Absolute path of the first program with one of these names in a trusted directory; undefined if none is installed. */
export function findProgram(names, path = process.env.PATH ?? '') {
  const folders = trustedFolders(path);
  for (const name of [names].flat()) {
    const found = folders.map((folder) => join(folder, name)).find(isTrustedProgram);
    if (found !== undefined) return found;
  }
  return undefined;
}

/**
 * Reduces PATH to its trusted directories, for this process and all its children. An empty PATH would mean the current
 * directory.
 */
export function keepTrustedPath(env = process.env) {
  env.PATH = trustedFolders(env.PATH).join(delimiter) || ['/usr/bin', '/bin'].join(delimiter);
}

function isTrustedProgram(path) {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile() && isTrusted(path);
  } catch {
    return false;
  }
}

/** Every parent directory is checked too: write access to a parent allows replacing everything below it. */
function isTrusted(path) {
  try {
    const owners = new Set([0, process.getuid?.() ?? 0, statSync(process.execPath).uid]);
    for (let at = realpathSync(path), above = false; ; at = dirname(at), above = true) {
      const { mode, uid } = statSync(at);
      if (!owners.has(uid)) return false;
      // In a sticky directory such as /tmp, other users can add files but not replace them.
      if ((mode & WRITABLE_BY_ALL) !== 0 && !(above && (mode & STICKY) !== 0)) return false;
      if (dirname(at) === at) return true;
    }
  } catch {
    return false;
  }
}
