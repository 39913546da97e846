import { accessSync, constants } from 'node:fs';
import { Breath } from '../../../shared/event-loop-yielder.ts';
import type { CheckSource, SourceFinding } from '../source-check.ts';
import type { FolderDefinition } from '../source-kinds.ts';
import { whyNoDocument } from './read-document.ts';
import { FOLDER_LIMITS, walkFolder, type FolderFile, type WalkedFolder } from './walk-folder.ts';

/** Looks what lies in the folder. No document is read: the index does that, and tells in the log which it could not. */
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
      detail: `there is no folder ${folder}`,
      nextStep: 'make it, correct its path in KNOWLEDGE_FILE, or mount it where Parley runs in a container',
    };
  const documents = walked.files.filter(({ path }) => whyNoDocument(path) === undefined);
  const others = countOthers(walked, documents.length);
  const behind = others === 0 ? '' : `, beside ${counted(others, 'file')} that ${others === 1 ? 'is' : 'are'} left out`;
  const found = `${counted(documents.length, 'document')} in ${folder}${behind}`;
  if (documents.length === 0)
    return { verdict: 'warning', detail: found, nextStep: 'put documents there: docs/KNOWLEDGE.md names the kinds' };
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

const RIGHTS = "let Parley's user read the folder and what is in it";
const WITHOUT_READERS: SourceFinding = {
  verdict: 'warning',
  detail: '; it has no readers, so that only what names its own is found',
  nextStep: 'say in KNOWLEDGE_FILE who may read it, "public" or a who',
};

function countOthers({ files, leftOut }: WalkedFolder, documents: number): number {
  return [...leftOut.values()].reduce((sum, { count }) => sum + count, files.length - documents);
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}

async function unreadable(files: readonly FolderFile[], signal: AbortSignal): Promise<string[]> {
  const breath = new Breath();
  const closed: string[] = [];
  for (const { path, realPath } of files) {
    if (breath.isDue) await breath.take();
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
