import { readDocumentFile, whyNoDocument, type ReadText } from '../folder/read-document.ts';
import type { FolderFile } from '../folder/walk-folder.ts';
import { readPageFile, whyNoPage } from '../site/read-kept-page.ts';
import type { LocalSource } from './local-index.ts';

/** How the files of a kind of source are read. */
interface LocalKind {
  /** @returns why a file is no document, by its name alone; undefined where it may be one */
  whyNone(path: string): string | undefined;
  /** Reads a document; one that cannot be read is one without text, and says why. @throws the signal's reason */
  readFile(file: FolderFile, mostBytes: number, signal: AbortSignal): Promise<ReadText>;
}

export const LOCAL_KINDS: Readonly<Record<LocalSource['kind'], LocalKind>> = {
  folder: { whyNone: whyNoDocument, readFile: readDocumentFile },
  pages: { whyNone: whyNoPage, readFile: readPageFile },
};
