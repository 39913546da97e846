import { readDocumentFile, whyNoDocument, type ReadText } from '../folder/read-document.ts';
import type { FolderFile } from '../folder/walk-folder.ts';
import { readPageFile, whyNoPage } from '../site/read-kept-page.ts';
import type { LocalSource } from './local-index.ts';

/** How files of a source kind are read. */
interface LocalKind {
  /** @returns why a file is not a document, judged by its name only; undefined if it may be one */
  whyNone(path: string): string | undefined;
  /**
   * Reads a document. For an unreadable document, returns no text and the reason in `refused`.
   * @throws the signal's reason
   */
  readFile(file: FolderFile, maxBytes: number, signal: AbortSignal): Promise<ReadText>;
}

export const LOCAL_KINDS: Readonly<Record<LocalSource['kind'], LocalKind>> = {
  folder: { whyNone: whyNoDocument, readFile: readDocumentFile },
  pages: { whyNone: whyNoPage, readFile: readPageFile },
};
