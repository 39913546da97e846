import { lstatSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** What applies in every deployment until the operator writes a file of the same name. */
const DEFAULTS = fileURLToPath(new URL('../../../defaults/', import.meta.url));
/** The fictional institution of local mode. Real people must not get answers from its documents. */
const EXAMPLES = fileURLToPath(new URL('../../../examples/', import.meta.url));

/** A file of the operator, which replaces the one shipped with Parley. */
export interface ConfigFile {
  readonly path: string;
  /** Applies while `path` does not exist. Undefined if the operator named `path`: the file must then exist. */
  readonly shipped?: string;
}

/** The shipped file with the same name as the operator's, for example `defaults/policy.json` for `config/policy.json`. */
export function shippedFile(path: string): string {
  return join(DEFAULTS, basename(path));
}

/** The same for a file that local mode has as an example. */
export function exampleFile(path: string): string {
  return join(EXAMPLES, basename(path));
}

/** Path of the file that applies now. Checked at each call, so that a reload finds a new file. */
export function fileInUse({ path, shipped }: ConfigFile): string {
  return shipped === undefined || exists(path) ? path : shipped;
}

/**
 * Whether there is anything at a path. A file that cannot be reached exists, so that reading it fails: a policy behind wrong
 * permissions must not be replaced by one that allows more.
 */
function exists(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return true;
  }
}
