// Which programs a start may run (SECURITY.md trusted-programs). Plain JavaScript, since the preparation needs it before a build.
import { accessSync, constants, realpathSync, statSync } from 'node:fs';
import { delimiter, dirname, isAbsolute, join, sep } from 'node:path';

const WRITABLE_BY_ALL = 0o002;
const STICKY = 0o1000;

/**
 * The folders of a PATH in which only root, the user and the owner of this Node can put programs. npm prepends
 * `node_modules/.bin` of every folder above the project, and an empty or relative entry means whatever folder is current: in a folder
 * that others can write to, both may hold another user's program.
 */
export function trustedFolders(path = process.env.PATH ?? '') {
  const entries = path
    .split(delimiter)
    .filter((entry) => isAbsolute(entry) && !entry.split(sep).includes('node_modules'));
  return [...new Set(entries)].filter(isTrusted);
}

/** The absolute path of the first program of one of these names in a trusted folder; undefined where none is installed. */
export function findProgram(names, path = process.env.PATH ?? '') {
  const folders = trustedFolders(path);
  for (const name of [names].flat()) {
    const found = folders.map((folder) => join(folder, name)).find(isTrustedProgram);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Leaves only the trusted folders in PATH, for this process and all that it starts. An empty PATH would mean the current folder. */
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

/** Each folder above counts too: where others can write to one, they can replace all below it. */
function isTrusted(path) {
  try {
    const owners = new Set([0, process.getuid?.() ?? 0, statSync(process.execPath).uid]);
    for (let at = realpathSync(path), above = false; ; at = dirname(at), above = true) {
      const { mode, uid } = statSync(at);
      if (!owners.has(uid)) return false;
      // In a sticky folder such as /tmp others can add files and replace none.
      if ((mode & WRITABLE_BY_ALL) !== 0 && !(above && (mode & STICKY) !== 0)) return false;
      if (dirname(at) === at) return true;
    }
  } catch {
    return false;
  }
}
