import { accessSync, constants } from 'node:fs';
import { EventLoopYielder } from '../../../shared/event-loop-yielder.ts';
import type { CheckSource, SourceFinding } from '../source-check.ts';
import type { FolderDefinition } from '../source-kinds.ts';
import { unsupportedFileReason } from './read-document.ts';
import { FOLDER_LIMITS, walkFolder, type FolderFile, type WalkedFolder } from './walk-folder.ts';

/** Lists the folder's files without reading them. The index reads them and logs those that it skips. */
export const checkFolder: CheckSource<FolderDefinition> = async (definition, signal) => {
  const { folder, readers } = definition;
  let walked: WalkedFolder | undefined;
  try {
    walked = await walkFolder(folder, FOLDER_LIMITS);
  } catch (error) {
    const code = String((error as NodeJS.ErrnoException).code);
    return { verdict: 'fault', detail: `${folder} cannot be read (${code})`, nextStep: RIGHTS };
  }
  if (!walked)
    return {
      verdict: 'fault',
      detail: `the folder ${folder} does not exist`,
      nextStep: 'create it, correct its path in KNOWLEDGE_FILE, or mount it if Parley runs in a container',
    };
  const documents = walked.files.filter(({ path }) => unsupportedFileReason(path) === undefined);
  const leftOut = [...walked.leftOut.values()].reduce((sum, { count }) => sum + count, 0);
  const others = leftOut + walked.files.length - documents.length;
  const behind = others === 0 ? '' : `; ${counted(others, 'file')} ${others === 1 ? 'is' : 'are'} skipped`;
  const found = `${counted(documents.length, 'document')} in ${folder}${behind}`;
  if (documents.length === 0)
    return {
      verdict: 'warning',
      detail: found,
      nextStep: 'add documents of a supported type (docs/guide/KNOWLEDGE.md)',
    };
  const closed = await unreadable(documents, signal);
  if (closed.length > 0)
    return {
      verdict: 'fault',
      detail: `${found}; ${closed.length} of them cannot be read, such as ${closed[0] ?? ''}`,
      nextStep: RIGHTS,
    };
  return readers === 'nobody'
    ? { ...WITHOUT_READERS, detail: found + WITHOUT_READERS.detail }
    : { verdict: 'ok', detail: found };
};

const RIGHTS = "give Parley's user read permission for the folder and its files";
const WITHOUT_READERS: SourceFinding = {
  verdict: 'warning',
  detail: '; it has no readers, so only documents that name their own readers are found',
  nextStep: 'set "readers" in KNOWLEDGE_FILE to "public" or a who',
};

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}

async function unreadable(files: readonly FolderFile[], signal: AbortSignal): Promise<string[]> {
  const yielder = new EventLoopYielder();
  const closed: string[] = [];
  for (const { path, realPath } of files) {
    if (yielder.isDue) await yielder.yieldNow();
    signal.throwIfAborted();
    if (!mayRead(realPath)) closed.push(path);
  }
  return closed;
}

function mayRead(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}
