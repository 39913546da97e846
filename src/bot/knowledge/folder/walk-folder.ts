import { lstatSync, readdirSync, realpathSync, statSync, type Dirent, type Stats } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { EventLoopYielder } from '../../../shared/event-loop-yielder.ts';
import { MIB_BYTES } from '../../../shared/clock.ts';

export interface FolderLimits {
  files: number;
  depth: number;
  fileBytes: number;
}

/** Limits per source folder. */
export const FOLDER_LIMITS: FolderLimits = { files: 50_000, depth: 20, fileBytes: 20 * MIB_BYTES };

export interface FolderFile {
  /** Relative to the folder, always with `/` separators. */
  path: string;
  /** After resolving links. */
  realPath: string;
  /** Changes whenever the file may have changed. */
  stamp: string;
}

/** Why an entry of a folder is skipped. */
export type SkipReason = 'too_many' | 'too_deep' | 'too_large' | 'link_outside' | 'unreadable';

export interface WalkedFolder {
  files: FolderFile[];
  leftOut: ReadonlyMap<SkipReason, { count: number; first: string }>;
}

/** Dotfiles and temporary files of office programs. */
const NOT_A_DOCUMENT = /^(?:\.|~\$)/;

/**
 * Lists the files of a folder recursively, sorted by name. Follows links only to files inside the folder and never to
 * folders, so that no outside file becomes a document and no cycle is walked (SECURITY.md knowledge-borders).
 * @returns undefined if the folder does not exist
 * @throws the system's error if it cannot be read
 */
export async function walkFolder(folder: string, limits: FolderLimits): Promise<WalkedFolder | undefined> {
  const root = realRoot(folder);
  if (root === undefined) return undefined;
  const yielder = new EventLoopYielder();
  const files: FolderFile[] = [];
  const leftOut = new Map<SkipReason, { count: number; first: string }>();
  const leave = (reason: SkipReason, path: string) => {
    const known = leftOut.get(reason);
    leftOut.set(reason, { count: (known?.count ?? 0) + 1, first: known?.first ?? path });
  };
  const visit = async (directory: string, depth: number): Promise<void> => {
    for (const entry of entriesOf(directory, depth === 0, () => leave('unreadable', relative(root, directory)))) {
      if (yielder.isDue) await yielder.yieldNow();
      if (NOT_A_DOCUMENT.test(entry.name)) continue;
      const whole = join(directory, entry.name);
      const path = relative(root, whole).split(sep).join('/');
      if (entry.isDirectory()) {
        if (depth >= limits.depth) leave('too_deep', path);
        else await visit(whole, depth + 1);
        continue;
      }
      const file = fileAt(whole, entry, root);
      if (typeof file === 'string') leave(file, path);
      else if (file && files.length >= limits.files) leave('too_many', path);
      else if (file && file.stats.size > limits.fileBytes) leave('too_large', path);
      else if (file) files.push({ path, realPath: file.realPath, stamp: stampOf(file.stats) });
    }
  };
  await visit(root, 0);
  return { files, leftOut };
}

function realRoot(folder: string): string | undefined {
  try {
    const root = realpathSync(folder);
    return statSync(root).isDirectory() ? root : undefined;
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(String((error as NodeJS.ErrnoException).code))) return undefined;
    throw error;
  }
}

function entriesOf(directory: string, isRoot: boolean, fail: () => void): Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true }).sort((one, other) => (one.name < other.name ? -1 : 1));
  } catch (error) {
    if (isRoot) throw error;
    fail();
    return [];
  }
}

/** @returns undefined if it is not a regular file or was deleted */
function fileAt(
  whole: string,
  entry: Dirent,
  root: string,
): { realPath: string; stats: Stats } | SkipReason | undefined {
  try {
    if (!entry.isSymbolicLink()) {
      const stats = lstatSync(whole);
      return stats.isFile() ? { realPath: whole, stats } : undefined;
    }
    const realPath = realpathSync(whole);
    if (realPath !== root && !realPath.startsWith(root.endsWith(sep) ? root : root + sep)) return 'link_outside';
    const stats = lstatSync(realPath);
    return stats.isFile() ? { realPath, stats } : undefined;
  } catch {
    return undefined;
  }
}

/** Includes the ctime, because a file can be changed with its size and mtime preserved. */
function stampOf({ size, mtimeMs, ctimeMs, ino }: Stats): string {
  return [size, mtimeMs, ctimeMs, ino].join('-');
}
