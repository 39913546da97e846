import { basename, extname } from 'node:path/posix';
import { DocumentError } from '../documents/document.ts';
import { readSitePage } from '../documents/kinds/html.ts';
import { readDocument } from '../documents/read-document.ts';
import { decodeText } from '../documents/text/decode-text.ts';
import { plainTitle } from '../documents/text/plain-title.ts';
import { splitFrontMatter, type FrontMatter } from '../front-matter.ts';
import { NOT_A_DOCUMENT } from '../knowledge-report.ts';
import { readWholeFile } from './read-file.ts';
import type { FolderFile } from './walk-folder.ts';

/** A document's text and front matter. */
export interface DocumentText extends FrontMatter {
  title: string;
  url?: string;
  parts: readonly { label?: string; text: string }[];
  /** Reason code if the document has no text. */
  refused?: string;
}

type Kind = (text: string) => { title?: string; parts: DocumentText['parts'] };

const MARKDOWN_HEADING = /^#[ \t]+([^ \t].{0,199})/;
const UNDERLINE = /^=+\s*$/;
const BEFORE_HEADING = /^\s*($|<|!\[|\[!\[)/;
const MAX_HEAD_CHARS = 5_000;

const markdown: Kind = (text) => ({ title: headingIn(text), parts: [{ text }] });

const html: Kind = (text) => {
  const read = readSitePage(text);
  return { title: read.title, parts: [{ text: read.text }] };
};

const plainText: Kind = (text) => ({ parts: [{ text }] });

/** Types that are read in this process, by file extension. */
const KINDS: Readonly<Record<string, Kind>> = {
  '.md': markdown,
  '.markdown': markdown,
  '.html': html,
  '.htm': html,
  '.txt': plainText,
};
/** Complex formats, which are read in a separate process. */
const READ_APART: ReadonlySet<string> = new Set([
  '.csv',
  '.tsv',
  '.pdf',
  '.docx',
  '.docm',
  '.xlsx',
  '.xlsm',
  '.pptx',
  '.pptm',
  '.ppsx',
]);

/** @returns why a file is not a document, judged by its name only; undefined if it may be one */
export function unsupportedFileReason(path: string): string | undefined {
  const extension = extname(path).toLowerCase();
  return Object.hasOwn(KINDS, extension) || READ_APART.has(extension) ? undefined : NOT_A_DOCUMENT;
}

/**
 * Reads a document. For an unreadable document, returns no text and the reason in `refused`.
 * @param file passed `whyNoDocument`
 * @throws the signal's reason
 */
export async function readDocumentFile(
  { path, realPath }: FolderFile,
  maxBytes: number,
  signal: AbortSignal,
): Promise<DocumentText> {
  const extension = extname(path);
  const name = basename(path, extension);
  const refuse = (refused: string): DocumentText => ({ title: name, parts: [], refused });
  const bytes = readWholeFile(realPath, maxBytes);
  if (!bytes) return refuse('unreadable');
  try {
    const read = READ_APART.has(extension.toLowerCase()) ? await readApart(path, bytes, signal) : readHere(path, bytes);
    return { ...read, title: plainTitle(read.title) ?? name };
  } catch (error) {
    signal.throwIfAborted();
    return refuse(error instanceof DocumentError ? error.code : 'unreadable');
  }
}

type MaybeTitled = Omit<DocumentText, 'title'> & { title?: string };

/** Used if the document seems to restrict its readers but the restriction cannot be parsed. */
const LEFT_OUT: MaybeTitled = { readers: 'nobody', parts: [], refused: 'front_matter' };

/** @throws DocumentError */
async function readApart(path: string, bytes: Buffer, signal: AbortSignal): Promise<MaybeTitled> {
  // Rows and pages keep their labels. A CSV or TSV file may start with front matter.
  const isTable = /\.[ct]sv$/i.test(path);
  const { matter, text, isOdd } = isTable
    ? splitFrontMatter(decodeText(bytes))
    : { matter: {}, text: undefined, isOdd: false };
  if (isOdd === true) return LEFT_OUT;
  const rest = text === undefined ? bytes : Buffer.from(text);
  const { title, parts } = await readDocument(rest, { name: basename(path) }, READER, signal);
  if (parts.length === 0) throw new DocumentError('no_text', 'The document contains no text');
  return { ...matter, title: matter.title ?? title, parts };
}

/** Owner name under which documents are read. */
export const READER = 'knowledge';

/** @throws DocumentError */
function readHere(path: string, bytes: Buffer): MaybeTitled {
  const { matter, text, isOdd } = splitFrontMatter(decodeText(bytes));
  if (isOdd === true) return LEFT_OUT;
  const { title, parts } = (KINDS[extname(path).toLowerCase()] ?? plainText)(text);
  return { ...matter, title: matter.title ?? title, parts };
}

/** The top-level heading that opens a Markdown text. Images, HTML and comments may precede it. */
export function headingIn(text: string): string | undefined {
  const lines = text.slice(0, MAX_HEAD_CHARS).split('\n');
  const at = lines.findIndex((line) => !BEFORE_HEADING.test(line));
  const line = lines[at] ?? '';
  const heading = UNDERLINE.test(lines[at + 1] ?? '') ? line : MARKDOWN_HEADING.exec(line)?.[1];
  return heading?.replace(/(?<![\s#])[\s#]+$/, '');
}
