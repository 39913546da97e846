import { lstatSync, readdirSync, realpathSync, statSync, type Dirent, type Stats } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { Breath } from '../../../shared/event-loop-yielder.ts';
import { MIB_BYTES } from '../../../shared/clock.ts';

export interface FolderLimits {
  files: number;
  depth: number;
  fileBytes: number;
}

/** Of a source's folder. */
export const FOLDER_LIMITS: FolderLimits = { files: 50_000, depth: 20, fileBytes: 20 * MIB_BYTES };

/** A file that may be a document. */
export interface FolderFile {
  /** From the folder, with `/` whatever the system writes. */
  path: string;
  /** Where it really lies. */
  realPath: string;
  /** Another one means that it may have changed. */
  stamp: string;
}

/** Why something in a folder is no document of ours. */
export type LeftOutReason = 'too_many' | 'too_deep' | 'too_large' | 'link_outside' | 'unreadable';

export interface WalkedFolder {
  files: FolderFile[];
  /** How much is left out for what reason, and the first of each by name. */
  leftOut: ReadonlyMap<LeftOutReason, { count: number; first: string }>;
}

/** What programs leave beside documents; what begins with a dot is nobody's document. */
const NOT_A_DOCUMENT = /^(?:\.|~\$)/;

/**
 * Lists the files of a folder and its sub-folders, in order of their names. Links are followed to files within the folder only, never
 * to folders; so nothing outside becomes a document, and no circle is walked (SECURITY.md knowledge-borders).
 * @returns undefined where there is no such folder @throws the system's error when it cannot be read
 */
export async function walkFolder(folder: string, limits: FolderLimits): Promise<WalkedFolder | undefined> {
  const root = realRoot(folder);
  if (root === undefined) return undefined;
  const breath = new Breath();
  const files: FolderFile[] = [];
  const leftOut = new Map<LeftOutReason, { count: number; first: string }>();
  const leave = (reason: LeftOutReason, path: string) => {
    const known = leftOut.get(reason);
    leftOut.set(reason, { count: (known?.count ?? 0) + 1, first: known?.first ?? path });
  };
  const visit = async (directory: string, depth: number): Promise<void> => {
    for (const entry of entriesOf(directory, depth === 0, () => leave('unreadable', relative(root, directory)))) {
      if (breath.isDue) await breath.take();
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

/** @returns undefined for what is no file, and for what is gone by now */
function fileAt(
  whole: string,
  entry: Dirent,
  root: string,
): { realPath: string; stats: Stats } | LeftOutReason | undefined {
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

/** Whoever keeps size and time of a change keeps not the time at which the file's record changed. */
function stampOf({ size, mtimeMs, ctimeMs, ino }: Stats): string {
  return [size, mtimeMs, ctimeMs, ino].join('-');
}
