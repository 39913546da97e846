import { basename } from 'node:path/posix';
import { DocumentError } from '../documents/document.ts';
import { readSitePage } from '../documents/kinds/html.ts';
import { readDocument } from '../documents/read-document.ts';
import { decodeText } from '../documents/text/decode-text.ts';
import { charsetOf } from '../../../shared/web/decode-page.ts';
import { plainTitle } from '../documents/text/plain-title.ts';
import { headingIn, READER, type DocumentText } from '../folder/read-document.ts';
import { readWholeFile } from '../folder/read-file.ts';
import type { FolderFile } from '../folder/walk-folder.ts';
import { NOT_A_DOCUMENT } from '../knowledge-report.ts';
import { parseStoredPage, PAGE_NAME, type StoredPage } from './kept-page.ts';
import { pageKindOf } from './page-kinds.ts';

type Read = Pick<DocumentText, 'parts'> & { title?: string };

/** @returns why a file is not a stored page, judged by its name only; undefined if it may be one */
export function unsupportedPageReason(path: string): string | undefined {
  return PAGE_NAME.test(path) ? undefined : NOT_A_DOCUMENT;
}

/**
 * Reads a stored page. Ignores any `readers` in it: otherwise authors on the site could decide who may read the page
 * (SECURITY.md knowledge-rights).
 * @throws the signal's reason
 */
export async function readPageFile(
  { realPath }: FolderFile,
  maxBytes: number,
  signal: AbortSignal,
): Promise<DocumentText> {
  const bytes = readWholeFile(realPath, maxBytes);
  const kept = bytes && parseStoredPage(bytes);
  if (!kept) return { title: '', parts: [], refused: 'unreadable' };
  const { url, date } = kept.head;
  const title = nameOf(url);
  try {
    const read = await readBody(kept, signal);
    return { title: plainTitle(read.title) ?? title, parts: read.parts, url, date };
  } catch (error) {
    signal.throwIfAborted();
    return { title, parts: [], url, refused: error instanceof DocumentError ? error.code : 'unreadable' };
  }
}

/** @throws DocumentError; the signal's reason */
async function readBody({ head, body }: StoredPage, signal: AbortSignal): Promise<Read> {
  const kind = pageKindOf(head.mediaType);
  if (kind === undefined) throw new DocumentError('unsupported', 'The page has an unsupported type');
  if (kind === 'apart') {
    const hint = { name: nameOf(head.url), mediaType: head.mediaType };
    const { title, parts } = await readDocument(body, hint, READER, signal);
    return withText({ title, parts });
  }
  const text = decodeText(body, charsetOf({ charset: head.charset, body }));
  if (kind === 'html') {
    const page = readSitePage(text);
    return withText({ title: page.title, parts: [{ text: page.text }] });
  }
  return withText({ title: kind === 'markdown' ? headingIn(text) : undefined, parts: [{ text }] });
}

/** @throws DocumentError */
function withText(read: Read): Read {
  if (!read.parts.some(({ text }) => text.trim() !== ''))
    throw new DocumentError('no_text', 'The page contains no text');
  return read;
}

/** The last path segment, as a readable name. */
function nameOf(address: string): string {
  const { pathname, host } = new URL(address);
  const last = basename(pathname);
  try {
    return decodeURIComponent(last) || host;
  } catch {
    return last || host;
  }
}
