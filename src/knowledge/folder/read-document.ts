import { basename, extname } from 'node:path/posix';
import { takeFrontMatter, type FrontMatter } from '../front-matter.ts';
import { decodeText } from './decode-text.ts';
import { textOfHtml } from './html-text.ts';
import { readWholeFile } from './read-file.ts';
import type { FolderFile } from './walk-folder.ts';
import type { LocalSource } from '../index/local-index.ts';

/** A document's text, and what it says about itself. */
export interface ReadText extends FrontMatter {
  title: string;
  url?: string;
  parts: readonly { label?: string; text: string }[];
  /** Why it has no text; a code. */
  refused?: string;
}

type Kind = (text: string) => { title?: string; parts: ReadText['parts'] };

const MARKDOWN_HEADING = /^#{1,6}[ \t]+(.{1,200})/m;
const MOST_LABEL_CHARS = 200;

const markdown: Kind = (text) => ({ title: headingIn(text), parts: [{ text }] });

const html: Kind = (text) => {
  const read = textOfHtml(text);
  return { title: read.title, parts: [{ text: read.text }] };
};

const plainText: Kind = (text) => ({ parts: [{ text }] });

/** Rows further down mean nothing without the names of their columns. */
const table: Kind = (text) => ({ parts: [{ label: /^.*/.exec(text)?.[0].slice(0, MOST_LABEL_CHARS), text }] });

/** The kinds that are read here, by the end of a file's name. */
const KINDS: Readonly<Record<string, Kind>> = {
  '.md': markdown,
  '.markdown': markdown,
  '.html': html,
  '.htm': html,
  '.txt': plainText,
  '.csv': table,
  '.tsv': table,
};

/** @returns why a file is no document, by its name alone; undefined where it may be one */
export function whyNoDocument(kind: LocalSource['kind'], path: string): string | undefined {
  return kind === 'pages' || Object.hasOwn(KINDS, extname(path).toLowerCase()) ? undefined : 'unknown_kind';
}

/** Reads a document; one that cannot be read is one without text, and says why. @param file one that may be a document */
export async function readDocumentFile(
  _kind: LocalSource['kind'],
  { path, realPath }: FolderFile,
  mostBytes: number,
  _signal: AbortSignal,
): Promise<ReadText> {
  const bytes = readWholeFile(realPath, mostBytes);
  if (!bytes) return { title: '', parts: [], refused: 'unreadable' };
  return readTextDocument(path, bytes);
}

function readTextDocument(path: string, bytes: Buffer): ReadText {
  const { matter, text } = takeFrontMatter(decodeText(bytes));
  const extension = extname(path);
  const read = (KINDS[extension.toLowerCase()] ?? plainText)(text);
  return { ...matter, title: matter.title ?? read.title ?? basename(path, extension), parts: read.parts };
}

function headingIn(text: string): string | undefined {
  const heading = MARKDOWN_HEADING.exec(text)?.[1]?.replace(/[\s#]+$/, '');
  return heading === '' ? undefined : heading;
}
